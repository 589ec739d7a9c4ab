/**
 * Names of skills in a text: a vocabulary of names that mean a skill wherever they stand, and whether a text names a given
 * one. A word that may as well be a department or a quality of anybody ("sales", "communication") is in no vocabulary:
 * who means it as a skill gives it as one.
 */
import type { QuestionsAsk } from '../../intelligence.ts';

const vocabulary = `JavaScript|TypeScript|Python|Java|C++|C#|.NET|PHP|Ruby on Rails|Kotlin|Perl|MATLAB|COBOL|Haskell|Erlang|Clojure|Fortran|Objective-C|Visual Basic|VBA|PowerShell|
HTML|CSS|Tailwind|jQuery|React Native|Redux|Vue.js|Next.js|Node.js|Express.js|NestJS|Django|FastAPI|Laravel|Symfony|Spring Boot|ASP.NET|Xamarin|Unreal Engine|WebAssembly|
SQL|NoSQL|PostgreSQL|MySQL|MariaDB|SQLite|Oracle Database|SQL Server|MongoDB|Redis|DynamoDB|Elasticsearch|OpenSearch|Neo4j|BigQuery|Redshift|Databricks|ClickHouse|
AWS|Azure|Google Cloud|GCP|Docker|Kubernetes|Terraform|Ansible|Jenkins|GitHub Actions|GitLab|CI/CD|DevOps|Linux|Unix|Nginx|Prometheus|Grafana|Datadog|Splunk|Microservices|REST APIs|GraphQL|gRPC|Kafka|RabbitMQ|
Machine learning|Deep learning|Data science|Data analysis|Data engineering|Data modeling|PyTorch|TensorFlow|scikit-learn|NumPy|Hadoop|Power BI|NLP|Computer vision|LLMs|Prompt engineering|ETL|
Playwright|JUnit|Test automation|Unit testing|TDD|Scrum|Kanban|Jira|System design|Software architecture|Distributed systems|Data structures|Object-oriented programming|Functional programming|Embedded systems|FPGA|AutoCAD|SolidWorks|
Cybersecurity|Information security|Penetration testing|Network security|Cryptography|ISO 27001|GDPR|Active Directory|SAP|SAP HANA|ABAP|DATEV|Salesforce|HubSpot|ServiceNow|Zendesk|Shopify|WordPress|
UX design|UI design|User research|Wireframing|Figma|Adobe XD|Photoshop|InDesign|Graphic design|Video editing|Copywriting|SEO|Google Ads|Google Analytics|Email marketing|Market research|
Bookkeeping|Financial modeling|Financial analysis|IFRS|GAAP|Risk management|Inventory management|Cold calling|Lead generation|Labor law|Contract law|CRM|
Project management|Product management|Stakeholder management|Change management|Six Sigma|Business analysis|Requirements engineering|Team leadership|Problem solving|Time management|Critical thinking|Public speaking|Conflict resolution|
Patient care|First aid|Phlebotomy|Pharmacology|Medical coding|Curriculum design|Classroom management|Carpentry|Plumbing|Welding|Electrical installation|Food safety|HACCP|Bartending`;
/** Names that are also everyday words: counted as they are written here, inside a sentence or as an item of a list. */
const cased =
  'Go|Golang|Rust|Swift|R|Ruby|Scala|React|Angular|Vue|Svelte|Flask|Flutter|Excel|Tableau|Snowflake|Airflow|REST|QA|UX|UI|Git|Bash|Selenium|Workday'.split(
    '|',
  );

const listed = vocabulary.split('|').map((name) => name.trim());

const escaped = (name: string): string => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
/** A name that stands by itself: `Java` is not in `JavaScript`, `C` is not in `C++`. */
const whole = (name: string, flags: string): RegExp =>
  new RegExp(
    String.raw`(?<![\p{L}\p{N}.#+-])${escaped(name).replaceAll(' ', String.raw`[\s-]+`)}(?![\p{L}\p{N}#+]|[.-]\p{L})`,
    flags,
  );
/** What follows a name that cannot be an everyday word: the end of an item of a list, or what is done with a skill. */
const itemEnd = String.raw`(?=\s*(?:[,;/|)\n]|\.?\s*$))`;
const use = String.raw`(?=[\s-]+(?:developer|engineer|programmer|(?:back|front)[\s-]?end|experience|skills|knowledge)\b)`;
/** At the start of a sentence every word has a capital, so one says nothing there. */
const inside = (name: string): RegExp => {
  const { source } = whole(name, 'u');
  const afterWord = String.raw`(?<=[\p{L}\p{N},;/(&][^\S\n]{0,3}${escaped(name)})`;
  return new RegExp(`${source}(?:${afterWord}|${itemEnd})|(?i:${source})${use}`, 'u');
};

type Skill = { name: string; pattern: RegExp };
let compiled: readonly Skill[] | undefined;
/** Made when a text is first looked through: it takes 40 ms of a processor, and most processes never read a resume. */
const patterns = (): readonly Skill[] =>
  (compiled ??= [
    ...listed.map((name) => ({ name, pattern: whole(name, 'iu') })),
    ...cased.map((name) => ({ name, pattern: inside(name) })),
  ].toSorted((one, other) => other.name.length - one.name.length));

/** A letter by itself is a skill only in a list: `Python, R and SQL`. */
const letterInList = /(?:[,/]|\b(?:and|or|und|et|y))\s*R\b|\bR\s*(?:[,/]|\b(?:and|or|und|et|y)\b)/u;

/** The skills of the vocabulary that a text names, in the order in which it names them, the longest name of a place. */
export function skillsIn(text: string, limit = 30): string[] {
  const found: { name: string; from: number; to: number }[] = [];
  for (const { name, pattern } of patterns()) {
    const match = pattern.exec(text);
    if (!match || (name === 'R' && !letterInList.test(text))) continue;
    const [from, to] = [match.index, match.index + match[0].length];
    if (found.every((other) => to <= other.from || from >= other.to)) found.push({ name, from, to });
  }
  return found
    .toSorted((one, other) => one.from - other.from)
    .map(({ name }) => name)
    .slice(0, limit);
}

/** Whether a text names this skill, as a word of its own. */
export function mentions(text: string, skill: string): boolean {
  const name = skill.trim();
  return name !== '' && whole(name, cased.includes(name) ? 'u' : 'iu').test(text);
}

/** What a job asks for: the skills that were given, and those that its description names besides. */
export function skillsOf({ skills, job_description = '' }: Pick<QuestionsAsk, 'skills' | 'job_description'>): string[] {
  const given = new Set(skills.map((skill) => skill.trim().toLowerCase()));
  return [...skills, ...skillsIn(job_description).filter((skill) => !given.has(skill.toLowerCase()))];
}

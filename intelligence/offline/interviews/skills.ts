/**
 * Finds the names of skills in a text, by a vocabulary. The vocabulary lacks words that may also mean a department or a
 * personal quality ("sales", "communication"). Such a skill must be given explicitly.
 */
import type { QuestionsAsk } from '../../intelligence.ts';
import { escaped, inAnyCase } from '../../../models/rules/language/pattern.ts';

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
/** Skill names that are also everyday words. They match case-sensitively, inside a sentence or as an item of a list. */
const cased =
  'Go|Golang|Rust|Swift|R|Ruby|Scala|React|Angular|Vue|Svelte|Flask|Flutter|Excel|Tableau|Snowflake|Airflow|REST|QA|UX|UI|Git|Bash|Selenium|Workday'.split(
    '|',
  );

const listed = vocabulary.split('|').map((name) => name.trim());

/** `name` as a whole word: `Java` does not match in `JavaScript`, nor `C` in `C++`. */
const whole = (name: string): string => String.raw`(?<![\p{L}\p{N}.#+-])${name}(?![\p{L}\p{N}#+]|[.-]\p{L})`;
const patternOf = (name: string, flags: string): RegExp =>
  new RegExp(whole(escaped(name).replaceAll(' ', String.raw`[\s-]+`)), flags);
/**
 * An everyday word that ends a list item, or precedes a word such as `developer`, counts as the name of a skill.
 */
const itemEnd = String.raw`(?=\s*(?:[,;/|)\n]|\.?\s*$))`;
const use = String.raw`(?=[\s-]+(?:developer|engineer|programmer|(?:back|front)[\s-]?end|experience|skills|knowledge)\b)`;
/**
 * A pattern for a skill that is also an everyday word. It does not match at the start of a sentence, where a capital
 * letter does not distinguish the skill from the word.
 */
const inside = (name: string): RegExp => {
  const afterWord = String.raw`(?<=[\p{L}\p{N},;/(&][^\S\n]{0,3}${name})`;
  return new RegExp(`${whole(name)}(?:${afterWord}|${itemEnd})|${whole(inAnyCase(name))}${use}`, 'u');
};

type Skill = { name: string; pattern: RegExp };
let compiled: readonly Skill[] | undefined;
/**
 * The patterns are compiled when they are first used, because compiling takes 40 ms of CPU time and most processes
 * never read a resume.
 */
const patterns = (): readonly Skill[] =>
  (compiled ??= [
    ...listed.map((name) => ({ name, pattern: patternOf(name, 'iu') })),
    ...cased.map((name) => ({ name, pattern: inside(name) })),
  ].toSorted((one, other) => other.name.length - one.name.length));

/** The single letter R counts as a skill only in a list: `Python, R and SQL`. */
const letterInList = /(?:[,/]|\b(?:and|or|und|et|y))\s*R\b|\bR\s*(?:[,/]|\b(?:and|or|und|et|y)\b)/u;

/** The vocabulary's skills in a text, in the order of the text. If names overlap, only the longest one counts. */
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

/** Whether the text contains the skill's name as a whole word. */
export function mentions(text: string, skill: string): boolean {
  const name = skill.trim();
  return name !== '' && patternOf(name, cased.includes(name) ? 'u' : 'iu').test(text);
}

/** The required skills of a job: the given skills, and further skills in the job description. */
export function skillsOf({ skills, job_description = '' }: Pick<QuestionsAsk, 'skills' | 'job_description'>): string[] {
  const given = new Set(skills.map((skill) => skill.trim().toLowerCase()));
  return [...skills, ...skillsIn(job_description).filter((skill) => !given.has(skill.toLowerCase()))];
}

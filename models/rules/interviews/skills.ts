/** Names of skills in a text: a vocabulary of those that are asked for most, and whether a text names a given one. Pure. */

/** As they are written. A name that is also an everyday word stands in `cased`. */
const vocabulary = `JavaScript|TypeScript|Python|Java|C++|C#|.NET|PHP|Ruby|Ruby on Rails|Kotlin|Scala|Perl|MATLAB|COBOL|Haskell|Elixir|Erlang|Clojure|Fortran|Objective-C|Visual Basic|VBA|Bash|PowerShell|
HTML|CSS|Sass|Tailwind|Bootstrap|jQuery|React|React Native|Redux|Angular|Vue|Vue.js|Svelte|Next.js|Nuxt|Node.js|Deno|Express.js|NestJS|Django|Flask|FastAPI|Laravel|Symfony|Spring Boot|Hibernate|ASP.NET|Flutter|Xamarin|Unity|Unreal Engine|Electron|WebAssembly|
SQL|NoSQL|PostgreSQL|MySQL|MariaDB|SQLite|Oracle Database|SQL Server|MongoDB|Redis|Cassandra|DynamoDB|Elasticsearch|OpenSearch|Neo4j|Snowflake|BigQuery|Redshift|Databricks|ClickHouse|
AWS|Azure|Google Cloud|GCP|Docker|Kubernetes|Terraform|Ansible|Helm|Jenkins|GitHub Actions|GitLab|CI/CD|DevOps|Linux|Unix|Nginx|Prometheus|Grafana|Datadog|Splunk|Serverless|Microservices|REST|REST APIs|GraphQL|gRPC|Kafka|RabbitMQ|Temporal|Git|
Machine learning|Deep learning|Data science|Data analysis|Data engineering|Data modeling|Statistics|PyTorch|TensorFlow|scikit-learn|Pandas|NumPy|Spark|Hadoop|Airflow|dbt|Power BI|Tableau|Looker|Excel|NLP|Computer vision|LLMs|Prompt engineering|ETL|
Selenium|Cypress|Playwright|Jest|JUnit|Test automation|Unit testing|QA|TDD|Agile|Scrum|Kanban|Jira|Confluence|System design|Software architecture|Distributed systems|Algorithms|Data structures|Object-oriented programming|Functional programming|Embedded systems|Firmware|FPGA|PLC|AutoCAD|SolidWorks|CAD|
Cybersecurity|Information security|Penetration testing|Network security|Networking|Cryptography|ISO 27001|GDPR|Active Directory|SAP|SAP HANA|ABAP|Salesforce|HubSpot|ServiceNow|Workday|Zendesk|Shopify|WordPress|
UX|UI|UX design|UI design|User research|Wireframing|Prototyping|Figma|Sketch|Adobe XD|Photoshop|Illustrator|InDesign|Graphic design|Video editing|Copywriting|Content strategy|SEO|SEM|Google Ads|Google Analytics|Email marketing|Social media|Digital marketing|Brand management|Market research|
Accounting|Bookkeeping|Financial modeling|Financial analysis|Budgeting|Forecasting|Auditing|Taxation|IFRS|GAAP|Risk management|Compliance|Payroll|Procurement|Supply chain|Logistics|Inventory management|Negotiation|Sales|B2B sales|Cold calling|Account management|Customer service|Customer support|CRM|Lead generation|Recruiting|Onboarding|Employee relations|Labor law|Contract law|
Project management|Product management|Stakeholder management|Change management|Process improvement|Lean|Six Sigma|Business analysis|Requirements engineering|Roadmapping|Leadership|Team leadership|Communication|Problem solving|Teamwork|Collaboration|Time management|Critical thinking|Creativity|Presentation|Public speaking|Mentoring|Coaching|Conflict resolution|Decision making|Adaptability|Attention to detail|Empathy|
Nursing|Patient care|First aid|Phlebotomy|Pharmacology|Medical coding|Teaching|Curriculum design|Classroom management|Translation|Carpentry|Plumbing|Welding|Electrical installation|Forklift|Cooking|Food safety|Bartending|Housekeeping|Driving`;
/** Counted only as they are written here: otherwise they are everyday words. */
const cased = [
  'Go',
  'Golang',
  'Rust',
  'Swift',
  'R',
  'Spring',
  'Express',
  'Chef',
  'Puppet',
  'Ember',
  'Dart',
  'Excel',
  'Lean',
  'REST',
  'Temporal',
  'Sketch',
  'UI',
  'UX',
  'QA',
  'Unity',
  'Spark',
  'Bash',
  'Git',
  'Driving',
];

const listed = vocabulary
  .split('|')
  .map((name) => name.trim())
  .filter((name) => !cased.includes(name));

const escaped = (name: string): string => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
/** A name that stands by itself: `Java` is not in `JavaScript`, `C` is not in `C++`. */
const whole = (name: string, flags: string): RegExp =>
  new RegExp(
    String.raw`(?<![\p{L}\p{N}.#+-])${escaped(name).replaceAll(' ', String.raw`[\s-]+`)}(?![\p{L}\p{N}#+]|[.-]\p{L})`,
    flags,
  );

type Skill = { name: string; pattern: RegExp };
let compiled: readonly Skill[] | undefined;
/** Made when a text is first looked through: it takes 40 ms of a processor, and most processes never read a resume. */
const patterns = (): readonly Skill[] =>
  (compiled ??= [
    ...listed.map((name) => ({ name, pattern: whole(name, 'iu') })),
    ...cased.map((name) => ({ name, pattern: whole(name, 'u') })),
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
  return name !== '' && whole(name, 'iu').test(text);
}

/**
 * Everything that the documents tell a reader to type works. Queries run at a real Temporal, and commands at the system
 * of the test run. Requests in the documents name existing routes.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { run } from '../../cli/program.ts';
import { findTemporal } from '../../engines/temporal.ts';
import { routeGroups } from '../../api/routes.ts';
import {
  abbreviatedIn,
  commandsIn,
  queriesIn,
  requestsIn,
  wordsOf,
  type Documented,
  type DocumentedRequest,
} from '../kit/documented.ts';
import { system, type TestOrg } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';
import { startReceiver, type Receiver } from '../kit/receiver.ts';
import { page, startSite, type TestSite } from '../kit/sites.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);
const api = system();
const password = 'correct horse battery';

const names = (await readdir(join(root, 'docs'), { recursive: true })).map((name) => `docs/${name}`);
const paths = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...names.filter((name) => name.endsWith('.md')),
].toSorted();
const documents = await Promise.all(
  paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })),
);

let folder: string;
let org: TestOrg;
let key: string;
let temporal: Client;
let connection: Connection;
let receiver: Receiver;
let site: TestSite;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'support-documented-'));
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
  connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
  temporal = new Client({ connection });
  receiver = await startReceiver();
  site = await startSite({ '/help/': page('Help', 'Cards are free. They take two working days to arrive.') });
});
afterAll(async () => {
  await Promise.all([connection.close(), receiver.close(), site.close()]);
  await rm(folder, { recursive: true, force: true });
});

describe('the queries in the documents', () => {
  it('Temporal accepts the workflow queries in the documents', async () => {
    const queries = documents.flatMap(({ path, text }) => queriesIn(text).map((query) => ({ path, query })));
    expect(queries.length).toBeGreaterThanOrEqual(4);
    const refused: string[] = [];
    for (const { path, query } of queries) {
      const asked = await temporal.workflow.count(query).catch((error: Error) => error);
      if (asked instanceof Error)
        refused.push(`${path}: ${query}: ${String((asked.cause as Error | undefined)?.message)}`);
    }
    expect(refused).toEqual([]);
  });

  it('Temporal refuses a query whose attribute is not in backquotes', async () => {
    const [query] = queriesIn('Filter by `Status = "failed"`.');
    await expect(temporal.workflow.count(query)).rejects.toThrow();
  });
});

/** A path with `{}` in place of each parameter. `…` stands for a parameter or for the start of a path. */
const plain = (path: string): string => path.replace(/^\/v1\//, '/').replaceAll(/\{\w+\}|(?<=\/)…/g, '{}');
const routes = Object.values(routeGroups).flatMap((group) =>
  group.map(({ method, path }) => ({ method: method as string, path: plain(path) })),
);
const isRoute = ({ method, path }: DocumentedRequest): boolean => {
  const end = plain(path).replace(/^…/, '');
  return routes.some(
    (route) => route.method === method && (route.path.endsWith(end) || route.path.includes(`${end}{`)),
  );
};
/** Whether the request is for a page that is served beside the routes. */
const isPage = ({ method, path }: DocumentedRequest): boolean =>
  method === 'GET' && /^\/(?:$|health\/|metrics$|demo$|docs$|widget\/)/.test(path);

describe('the requests in the documents', () => {
  it('the requests in the documents name only existing routes', () => {
    const requests = documents.flatMap(({ path, text }) =>
      requestsIn(text).map((request) => ({ at: path, ...request })),
    );
    expect(requests.length).toBeGreaterThan(100);
    expect(requests.filter((request) => !isRoute(request) && !isPage(request))).toEqual([]);
  });

  it('the check of documented requests finds an unknown method or path', () => {
    const gone = requestsIn('`PATCH /v1/orgs/{orgId}/documents` `GET …/nowhere` `GET|POST /v1/nowhere?a=b`');
    expect(gone.filter((request) => isRoute(request) || isPage(request))).toEqual([]);
    expect(gone).toHaveLength(4);
  });
});

/** Commands that no test runs in this form, each with the reason. */
const notRun: Record<string, string> = {
  'temporal worker deployment set-current-version --deployment-name support-platform --build-id NEW':
    'its version is an example (test/workflows/versions.test.ts makes one current)',
  'npm link': 'it changes the machine',
  'git config core.hooksPath .githooks': 'it changes the clone',
  "git commit -am 'language: an answer without a source says that the documents are silent'": 'it changes the clone',
  'npm ci': 'it replaces the packages that are in use',
  'npm install --no-save': 'it replaces the packages that are in use',
  'node engines/embedding/obtain.ts':
    'the models are obtained when a run begins, by the same function (test/engines/embedding.test.ts)',
  'support-platform login --email grace@example.com': 'it asks at a terminal (test/cli/cli.test.ts logs in)',
  'npm run -s cli -- ops login': 'it is for operators (test/base/codec.test.ts opens its link)',
  'npm run -s cli -- ops restart': 'it is for operators (test/base/backup.test.ts restarts after restores)',
  'temporal operator namespace create --namespace support-2 --retention 72h':
    'it stays at the server (test/base/backup.test.ts types it)',
  'npm run -s cli -- password-link grace@example.com': 'it is for operators (test/cli/cli.test.ts has a link made)',
  'support-platform sessions mint --email ada@example.com --segment personal --ttl-seconds 600':
    'it takes a key alone (test/cli/nouns.test.ts mints)',
  'support-platform tools discover': 'its server is an example (test/cli/nouns.test.ts has one)',
  'support-platform tools approve get_balance --risk-tier read_private --auth-scope verified_customer':
    'its server is an example (test/cli/nouns.test.ts has one)',
  'support-platform notifications follow': 'it waits for what comes (test/cli/cli.test.ts follows)',
  'docker compose up -d --build': 'containers are not run here, as the document says',
  'docker compose exec api1 node cli/main.ts ops stuck': 'containers are not run here, as the document says',
  'docker compose run --rm --entrypoint mkdir s3 -p /data/index': 'containers are not run here, as the document says',
  'mongodump --uri="$MONGODB_URI" --db=support_platform --gzip --archive=support.archive.gz':
    'not every machine has this tool (test/base/backup.test.ts dumps by the driver)',
  'mongorestore --uri="$MONGODB_URI" --nsInclude=\'support_platform.*\' --gzip --archive=support.archive.gz':
    'not every machine has this tool (test/base/backup.test.ts restores by the driver)',
  'echo $?': 'it says how the command before it ended',
};

type Ended = { code: number; shown: string };

/**
 * Runs the command-line tool with a separate login, and with names of this system in place of those in the document.
 */
async function runCli(words: readonly string[]): Promise<Ended> {
  const config = await mkdtemp(join(folder, 'config-'));
  const login = join(config, 'support-platform', 'credentials.json');
  const { token, email } = org.owner;
  const stored = { token, email, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  await mkdir(dirname(login));
  await writeFile(login, JSON.stringify({ servers: { [`${api.url}/v1`]: stored } }));
  const given = words.map((word) => {
    const fixture = join(root, 'test', 'fixtures', word);
    if (/^[\w-]+\.\w+$/.test(word) && existsSync(fixture)) return fixture;
    if (word === 'transcript.txt') return join(root, 'test', 'fixtures', 'security.txt');
    if (word === 'COMMAND') return '--help';
    return word.replace(/^org_\w{26}$/, org.orgId).replace('http://127.0.0.1:8765', site.url);
  });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(`${password}\n`);
  const member = { HOME: folder, XDG_CONFIG_HOME: config, SUPPORT_URL: api.url, SUPPORT_ORG: org.orgId };
  // An operator types `ops` where the server runs.
  const env = words[0] === 'ops' ? { ...systemEnv('shared'), HOME: folder } : member;
  const code = await run(given, { env, stdin, stdout, stderr });
  return { code, shown: `${String(stdout.read() ?? '')}${String(stderr.read() ?? '')}` };
}

/** Runs a document's script with its placeholders filled in. */
async function runScript(script: string): Promise<Ended> {
  const filled = script.replaceAll('https://example.com/hooks/tickets', receiver.url).replaceAll('…', 'x');
  const env = { PATH: process.env['PATH'], BASE: `${api.url}/v1`, ORG: org.orgId, KEY: key, LOGIN: org.owner.token };
  const failing = 'set -euo pipefail; curl() { command curl -sS --fail-with-body "$@"; };';
  return execute('bash', ['-c', `${failing}\n${filled}`], { cwd: root, env }).then(
    ({ stdout, stderr }) => ({ code: 0, shown: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      shown: error.stdout + error.stderr,
    }),
  );
}

/** Says what is wrong with a command of the command-line tool. Undefined when it is right. */
async function wrongCli(words: readonly string[], { output }: Documented): Promise<string | undefined> {
  const json = words.includes('--json') ? words : [...words, '--json'];
  const { code, shown } = await runCli(json);
  // The ids of an example do not exist here. So the API may answer that there is no such record, or that it is in
  // another state.
  const answered = /"status": (?:403|404|409)\b/.test(shown);
  const saidSo = /\bfailed:|"error":/.test(output);
  return code === 0 || (code === 1 && (answered || saidSo)) ? undefined : `${code} ${shown}`;
}

/** Says what is wrong with a command. Undefined when it is right. */
async function wrongWith(command: Documented): Promise<string | undefined> {
  const { text } = command;
  if (text in notRun) return undefined;
  const words = wordsOf(text);
  const cli = /^(?:npm run -s cli -- |support-platform )/.exec(text);
  if (cli) return wrongCli(wordsOf(text.slice(cli[0].length)), command);
  if (text.startsWith('npm ')) return wrongScript(words);
  if (['git', 'openssl'].includes(words[0]!) || text.includes('curl ')) {
    const { code, shown } = await runScript(text);
    return code === 0 && shown !== '' ? undefined : `${code} ${shown}`;
  }
  if (words[0] === 'temporal') {
    const found = await temporal.workflow.list({ pageSize: 1 })[Symbol.asyncIterator]().next();
    const { workflowId } = found.value as { workflowId: string };
    const args = words.slice(1).map((word) => (word === 'ID' ? workflowId : word));
    const binary = await findTemporal(() => undefined);
    const shown = await execute(binary, [...args, '--address', process.env['TEST_TEMPORAL_ADDRESS']!]);
    return 'events' in (JSON.parse(shown.stdout) as object) ? undefined : shown.stdout;
  }
  return 'no test types it, and `notRun` does not say why';
}

const scripts = (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts;
const benches = await readFile(join(root, 'bench', 'run.ts'), 'utf8');

/** npm scripts take minutes. So only the existence of the script and of its file arguments is checked. */
function wrongScript(words: readonly string[]): string | undefined {
  const [script = '', ...given] = words.filter((word) => !['npm', 'run', '-s', '--'].includes(word));
  if (!(script in scripts)) return 'there is no such script';
  const missing = given.filter((word) => word.includes('/') && !existsSync(join(root, word)));
  if (missing.length > 0) return `there is no ${missing.join()}`;
  const [name] = given;
  if (script === 'bench' && name !== undefined && name !== 'NAME' && !benches.includes(`  ${name}: () => import(`))
    return 'there is no such benchmark';
  return undefined;
}

describe('the commands in the documents', () => {
  it.each(documents.filter(({ text }) => commandsIn(text).length > 0))(
    'the commands in $path can be run as written',
    async ({ text }) => {
      const wrong: string[] = [];
      for (const command of commandsIn(text)) {
        const why = await wrongWith(command);
        if (why !== undefined) wrong.push(`${command.text}\n${why}`);
      }
      expect(wrong).toEqual([]);
    },
  );

  it('every command in the list `notRun` of this file occurs in a document', () => {
    const all = documents.flatMap(({ text }) => commandsIn(text).map((command) => command.text));
    expect(Object.keys(notRun).filter((text) => !all.includes(text))).toEqual([]);
  });

  it('the check of documented commands finds a command that does not exist', async () => {
    const typed = [
      'support-platform docs burn',
      'support-platform ask --loudly x',
      'npm run nothing',
      'npm run bench -- none',
      'curl "$BASE/nowhere"',
      'git frobnicate',
      'docker compose up',
    ];
    for (const text of typed) expect([text, await wrongWith({ text, output: '' })]).toEqual([text, expect.any(String)]);
  });
});

describe('the commands that docs/cli.md shows in shortened form', () => {
  const help = async (words: readonly string[]): Promise<string> => (await runCli([...words, '--help'])).shown;

  it('each command that docs/cli.md shows in shortened form exists in the CLI and has the options shown there', async () => {
    const [, commands] = (await help([])).split('Commands:');
    const nouns = new Set([...commands!.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, noun]) => noun!));
    const { text } = documents.find(({ path }) => path === 'docs/cli.md')!;
    const spans = abbreviatedIn(text, nouns);
    expect(spans.length).toBeGreaterThan(10);
    const wrong: string[] = [];
    for (const span of spans) {
      const words = wordsOf(span);
      const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
      const command = end === -1 ? words : words.slice(0, end);
      const shown = await help(command);
      const usage = `Usage: support-platform ${command.join(' ')} `;
      const options = words.filter((word) => word.startsWith('--'));
      if (!shown.startsWith(usage) || options.some((option) => !shown.includes(option)))
        wrong.push(`${span}\n${shown}`);
    }
    expect(wrong).toEqual([]);
  });
});

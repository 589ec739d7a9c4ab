/**
 * Runs schemathesis, an independent fuzzer, against the whole API with its own OpenAPI document: as an owner, with an
 * API key, and as a customer. The run fails on a 5xx, and on any status, header, body, refusal or acceptance that
 * contradicts the document.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { system } from './harness.ts';
import type { Route } from '../../api/http/route.ts';
import { routeGroups } from '../../api/routes.ts';

const api = system();
const routes: readonly Route[] = Object.values(routeGroups).flat();
/**
 * The effort of a run. A run is limited by its amount of work and not by time, so that every machine tries the same.
 * `examples`: the number of examples for each route in each phase. `stateful`: the number of call sequences that build
 * on each other.
 */
export type Effort = { phases: string; examples: number; stateful?: number };

/**
 * Routes that refuse values allowed by the schema, for reasons that no schema can state. Such values are: the content
 * of a file; a time in the past; an invalid or private address; a tag without a letter; a colour that is hard to read;
 * a customer without any name; a person who is not a member; an unknown time zone or a year long ago; the name of
 * somebody else; a cursor that was never issued; a service that is not connected; a sign-in that nobody started; a link
 * that was never mailed; bytes that are not a form, or a form where JSON is expected; and a caller's own keys after the
 * caller left.
 */
const rulesBeyondTheSchema = [
  'uploadDocument',
  'uploadResume',
  'searchInbox',
  'setTeamTags',
  'setHours',
  'setWidget',
  'setWidgetPicture',
  'loginBrowser',
  'logoutBrowser',
  'writeArticle',
  'changeDocumentText',
  'setDocumentSegments',
  'setPageSegments',
  'startCrawl',
  'createKey',
  'updateKey',
  'updateSupportConfig',
  'mintSession',
  'replyToConversation',
  'assignConversation',
  'createMeeting',
  'updateMeetingSettings',
  'addTranscript',
  'draftInterview',
  'createInterview',
  'updateInterview',
  'startInterview',
  'createTask',
  'updateTask',
  'connectEmail',
  'connectSlack',
  'testIntegration',
  'putToolServer',
  'finishToolGrant',
  'setPicture',
  'setOrgWebhooks',
  'forgotPassword',
  'resetPassword',
  'changeEmail',
  'confirmEmail',
  'inviteMember',
  'seeInvitation',
  'acceptInvitation',
  'registerInvited',
  'stopMails',
  'setNotices',
  'snoozeConversation',
  'addNote',
  'getStatistics',
  'removeMember',
  'receiveGithub',
  ...routes.filter((route) => 'cursor' in (route.query?.shape ?? {})).map(({ name }) => name),
];

/**
 * Routes that call another service. The services at the generated addresses do not exist, so these routes answer 502 or
 * 503.
 */
const asksElsewhere = ['connectEmail', 'connectGithub', 'connectLinear', 'discoverTools', 'putToolServer'];
/**
 * Routes with a path parameter, one value of which has a route of its own. The check of the header `Allow` is off for
 * them.
 */
const besideOwnPaths = ['disconnectIntegration'];

type Values = Record<string, string[]>;
/**
 * The credentials that the fuzzer uses, with ids that exist for them: `common` for every route, `of` for single routes.
 */
type Caller = { common: Values; of: Record<string, Values>; headers: Record<string, string> };
/**
 * The probability that a parameter gets an existing value; 0.7 for parameters not listed here. The mode always gets an
 * existing value, because a key is refused in every mode but its own.
 */
const probabilities: Record<string, number> = { 'path.orgId': 0.9, 'query.mode': 1, 'query.environment': 1 };

/** Any 4xx counts as a refusal. A separate check verifies that the route documents the status. */
const general = '[checks.negative_data_rejection]\nexpected-statuses = ["4xx"]';

/**
 * The configuration of schemathesis. It uses mostly ids that exist, so that requests reach handlers and do not only get
 * 404.
 */
function configuration({ common, of, headers }: Caller, names: readonly string[], stateful: number): string {
  const sets: string[] = [];
  const bind = (values: Values): string =>
    Object.entries(values)
      .map(([name, list]) => {
        sets.push(`[dictionaries.set${sets.length}]\nvalues = ${JSON.stringify(list)}`);
        const probability = probabilities[name] ?? 0.7;
        return `${JSON.stringify(name)} = { dictionary = "set${sets.length - 1}", probability = ${probability} }`;
      })
      .join('\n');
  const operation = (name: string): string =>
    [
      '[[operations]]',
      `include-operation-id = ${JSON.stringify(name)}`,
      ...(rulesBeyondTheSchema.includes(name) ? ['checks.positive_data_acceptance.enabled = false'] : []),
      ...(asksElsewhere.includes(name) ? ['checks.not_a_server_error.enabled = false'] : []),
      ...(besideOwnPaths.includes(name) ? ['checks.allow_header_conformance.enabled = false'] : []),
      ...(of[name] ? ['[operations.parameters]', bind(of[name])] : []),
    ].join('\n');
  const parameters = `[parameters]\n${bind(common)}`;
  const special = new Set([...rulesBeyondTheSchema, ...asksElsewhere, ...besideOwnPaths, ...Object.keys(of)]);
  const operations = names.filter((name) => special.has(name)).map(operation);
  const sent = Object.entries(headers).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const sequences = `[phases.stateful.generation]\nmax-examples = ${stateful}`;
  return ['[headers]', ...sent, general, sequences, ...sets, parameters, ...operations].join('\n\n');
}

type Outcome = { code: number | string; output: string };

/**
 * Runs the fuzzer over these routes as this caller. A run that hangs is killed before the time of the test, `endsMs`,
 * is up.
 */
async function fuzz(fuzzed: readonly Route[], caller: Caller, effort: Effort, endsMs: number): Promise<Outcome> {
  const names = fuzzed.map(({ name }) => name);
  const folder = await mkdtemp(join(tmpdir(), 'support-fuzz-'));
  try {
    await writeFile(join(folder, 'schemathesis.toml'), configuration(caller, names, effort.stateful ?? 1));
    const options = {
      url: `${api.url}/v1`,
      phases: effort.phases,
      seed: 1,
      'max-examples': effort.examples,
      'generation-database': 'none',
      // More threads gain nothing, and crash Python 3.11's parser.
      workers: 1,
    };
    const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const included = names.flatMap((name) => ['--include-operation-id', name]);
    const args = ['run', `${api.url}/v1/openapi.json`, ...flags, ...included];
    args.push('--no-color', '--continue-on-failure', '--no-shrink');
    const child = spawn(process.env['TEST_SCHEMATHESIS']!, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += String(piece)));
    const timer = setTimeout(() => child.kill('SIGKILL'), endsMs - 10_000);
    const code = await new Promise<number | string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) => resolve(status ?? signal ?? 'unknown'));
    });
    clearTimeout(timer);
    return { code, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An organization with data to find, and data that may be deleted. */
async function populated() {
  const org = await api.newOrg();
  const [key, spare, doomed, left] = await Promise.all([
    api.newKey(org),
    api.newKey(org),
    api.newKey(org),
    api.join(org),
  ]);
  const documents: string[] = [];
  for (const fact of ['green', 'blue', 'red']) {
    const file = { name: `${fact}.md`, content: `The gate is ${fact}.` };
    documents.push((await api.upload(org.orgId, key.token, file)).body.document.doc_id);
  }
  for (const id of documents) await api.processed(org.orgId, key.token, id);
  const tasks: string[] = [];
  for (const title of ['Call back', 'Send the sheet']) {
    const task = { token: org.owner.token, body: { title } };
    tasks.push((await api.request('POST', `/orgs/${org.orgId}/tasks`, task)).body.data.task_id);
  }
  const question = { token: key.token, body: { query: 'Where do unicorns park?' } };
  await api.request('POST', `/orgs/${org.orgId}/kb/query`, question);
  return { org, key, spare, doomed, left, documents, tasks };
}

/** The callers. The fuzzer must not remove what they need: the key, the documents, the membership. */
async function callers() {
  const { org, key, spare, doomed, left, documents, tasks } = await populated();
  const [session, ended, erased] = [
    await api.newSession(org, { key: key.token }),
    await api.newSession(org, { key: key.token }),
    await api.newSession(org, { key: key.token }),
  ];
  const { body: said } = await api.request('POST', `/support/chat/messages/${org.orgId}`, {
    token: ended.token,
    body: { body: 'Where do unicorns park?' },
  });
  const [lost, ...found] = documents;
  const common = {
    'path.orgId': [org.orgId],
    'path.docId': found,
    'path.keyId': [spare.keyId],
    'path.userId': [left.userId],
    'path.sessionId': [ended.sessionId],
    'path.convId': [said.conv_id],
    'path.customerId': [ended.customerId],
    'path.taskId': [tasks[0]!],
  };
  const of = {
    deleteDocument: { 'path.docId': [lost!] },
    deleteTask: { 'path.taskId': [tasks[1]!] },
    eraseCustomer: { 'path.customerId': [erased.customerId] },
    revokeKey: { 'path.keyId': [doomed.keyId] },
    rotateKey: { 'path.keyId': [doomed.keyId] },
    uploadDocument: { 'body.file': ['The gate is open on Sundays.', '# Gates\n\nThey are closed.\n'] },
    login: { 'body.email': [org.owner.email], 'body.password': [org.owner.password] },
  };
  const as = (token: string, more: Values = {}): Caller => ({
    common: { ...common, ...more },
    of,
    headers: { Authorization: `Bearer ${token}` },
  });
  const byKey = as(key.token, { 'query.mode': ['test'], 'query.environment': ['test'] });
  return { owner: as(org.owner.token), key: byKey, keyAlone: byKey, session: as(session.token) };
}

/** The text that a failed run shows: the report of schemathesis. A run that left a route out counts as failed. */
function report({ code, output }: Outcome, fuzzed: readonly Route[]): string {
  const complete = Number(/Tested: (\d+)/.exec(output)?.[1]) === fuzzed.length;
  return code === 0 && complete ? 'nothing found' : `exit ${code}\n${output}`;
}

/** These routes would end the login of the fuzzer. */
const endsTheCaller = ['endLogins'];

/** Whether a key may call the route and an owner may not. */
const isForKeysAlone = ({ auth }: Route): boolean => auth.kind === 'self' || (auth.kind === 'key' && auth.keyOnly);

/** The routes that each kind of caller may call. `keyAlone` is a key on the routes that an owner may not call. */
const routesOf: Record<Who, readonly Route[]> = {
  owner: routes.filter(
    (route) => route.auth.kind !== 'session' && !isForKeysAlone(route) && !endsTheCaller.includes(route.name),
  ),
  key: routes.filter(({ auth }) => auth.kind === 'key' || auth.kind === 'self'),
  keyAlone: routes.filter(isForKeysAlone),
  session: routes.filter(({ auth }) => auth.kind === 'session'),
};
export type Who = keyof Awaited<ReturnType<typeof callers>>;

/** Fuzzes all routes that this caller may call. Returns `nothing found`, or the findings. */
export async function fuzzAs(who: Who, effort: Effort, endsMs: number): Promise<string> {
  const fuzzed = routesOf[who];
  return report(await fuzz(fuzzed, (await callers())[who], effort, endsMs), fuzzed);
}

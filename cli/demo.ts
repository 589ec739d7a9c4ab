/**
 * `npm run demo`: does the main job of the product with real files, as a customer would: register, create a key, upload
 * documents, ask questions, see sources. It uses the running system or starts a separate one. It fails if an answer is
 * not the expected one, and prints how to log in to its organization.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { apiUrl, defaultUrl, loginCommand } from './arguments.ts';
import { createClient } from './client.ts';
import { CliError, errorLines } from './errors.ts';
import { answerLines, type Answer } from './knowledge.ts';
import { createOutput, type Output } from './output.ts';
import { addDocument } from './upload.ts';
import { queryReply } from '../api/knowledge/contract/knowledge.ts';
import { startGuarded } from '../engines/child.ts';
import { createDemo } from '../engines/demo.ts';
import { freePort } from '../engines/ports.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The format of `questions.json` in the folder. `source`: the file that must be among the answer's sources; null when
 * no file answers the question.
 */
const script = z.object({
  documents: z.array(z.object({ filename: z.string(), segments: z.array(z.string()) })).min(1),
  questions: z
    .array(
      z.object({
        question: z.string(),
        segment: z.string().optional(),
        source: z.string().nullable(),
        /** Words that the right answer must contain. */
        contains: z.string().nullable(),
      }),
    )
    .min(1),
});
type Question = z.infer<typeof script>['questions'][number];

/** Describes what is wrong with an answer, one sentence each. `docIds`: the ids of the uploaded documents by file. */
export function judge(question: Question, answer: Answer, docIds: ReadonlyMap<string, string>): string[] {
  // An answer of low confidence counts as no answer, because it says that nothing certain was found.
  if (question.source === null)
    return answer.has_context && answer.confidence !== 'low'
      ? ['expected no answer: the documents do not say this']
      : [];
  const wanted = docIds.get(question.source);
  const wrong: string[] = [];
  if (!answer.sources.some(({ id }) => id === wanted)) wrong.push(`expected ${question.source} among the sources`);
  if (question.contains !== null && !flat(answer.answer).includes(flat(question.contains))) {
    wrong.push(`expected the answer to say “${question.contains}”`);
  }
  return wrong;
}

/** Normalizes case, line breaks and blanks. */
const flat = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ');

/** The owner account of the organization that a demo created. */
type Owner = { email: string; password: string };

/**
 * Runs the demo against the API at `url` with the files of `folder`. Returns the number of unexpected answers and the
 * owner of the created organization, which is kept. Throws CliError when a step fails.
 */
async function runDemo(url: string, folder: string, output: Output): Promise<{ failures: number; owner: Owner }> {
  const { documents, questions } = script.parse(JSON.parse(await readFile(join(folder, 'questions.json'), 'utf8')));
  output.say(`The demo asks ${url}`);
  const company = 'Lindenbank';
  const { owner, organization, created } = await createDemo(url, {
    company,
    scopes: ['support:read', 'support:write'],
  });
  const orgId = organization.org_id;
  output.say(`Registered ${owner.email} with the organization ${company}, ${orgId}`);
  const { key, token } = created;
  output.say(`Created the key ${key.token_prefix}… (${key.environment} mode) for: ${key.scopes.join(', ')}`);
  const client = createClient({ url, token });

  heading(output, 'Documents');
  const docIds = new Map<string, string>();
  for (const { filename, segments } of documents) {
    const target = { client, orgId, mode: undefined };
    const added = await addDocument(target, join(folder, filename), { segments, until: 'indexed' }, output);
    if (added.error !== undefined) throw added.error;
    docIds.set(filename, added.document.doc_id);
  }

  heading(output, 'Questions');
  let failures = 0;
  for (const [i, question] of questions.entries()) {
    const body = {
      query: question.question,
      ...(question.segment === undefined ? {} : { context: { productType: question.segment } }),
    };
    const answer = await client.request('POST', `/orgs/${orgId}/kb/query`, queryReply, { body });
    const whom = question.segment === undefined ? '' : `  (asked for: ${question.segment})`;
    output.say(`${i + 1}. ${question.question}${whom}`);
    for (const line of answerLines(answer, output.width - 3)) output.say(line === '' ? '' : `   ${line}`);
    const wrong = judge(question, answer, docIds);
    for (const sentence of wrong) output.say(`   WRONG: ${sentence}`);
    if (wrong.length > 0) failures += 1;
    output.say('');
  }
  output.say(`${questions.length - failures} of ${questions.length} answers are as expected.`);
  return { failures, owner };
}

function heading(output: Output, text: string): void {
  for (const line of ['', text, '-'.repeat(text.length)]) output.say(line);
}

/** Whether this API answers at `url`; false when nothing or another program answers. */
async function serves(url: string): Promise<boolean> {
  try {
    const response = await fetch(new URL('/health/ready', url), {
      signal: AbortSignal.timeout(3_000),
      redirect: 'manual',
    });
    return response.ok && ((await response.json()) as { mongo?: unknown }).mongo === 'ok';
  } catch {
    return false;
  }
}

/** Settings of the caller's own system, which the demo's system must ignore. */
const foreign = ['MONGODB_URI', 'TEMPORAL_ADDRESS', 'SEARCH_URI', 'PUBLIC_URL', 'HOST', 'FLEETS'] as const;

/** The demo's own data folder, next to the one of `npm start`, so that both can run. */
const ownData = (env: NodeJS.ProcessEnv): string => resolve(env['DATA_DIR'] || join(root, '.data'), 'demo');

/** Starts a separate system for the demo; its data is kept. The system ends with this process in every case. */
async function startOwn(env: NodeJS.ProcessEnv, output: Output): Promise<{ url: string } & AsyncDisposable> {
  const port = await freePort();
  const others = Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.some((one) => one === name)));
  const logs = await mkdtemp(join(tmpdir(), 'support-demo-'));
  const logPath = join(logs, 'start.log');
  const started = await startGuarded({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', join(root, 'engines', 'start.ts')],
    cwd: root,
    logPath,
    env: { ...others, PORT: String(port), DATA_DIR: ownData(env) },
    removeAfter: logs,
  });
  const stop = async (): Promise<void> => {
    await started.stop(60_000);
    await rm(logs, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}/v1`;
  try {
    let shown = 0;
    for (;;) {
      const lines = (await readFile(logPath, 'utf8')).split('\n').slice(0, -1);
      // An empty line begins the final screen for people, which is about `npm start` and not about the demo.
      const progress = lines.includes('') ? lines.slice(0, lines.indexOf('')) : lines;
      for (const line of progress.slice(shown)) output.say(`  ${line}`);
      shown = progress.length;
      if (lines.some((line) => line.startsWith('ready http'))) break;
      if (!started.running()) throw new CliError('The system for the demo could not be started; the reason is above.');
      await wait(100);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, [Symbol.asyncDispose]: stop };
}

/**
 * How a person continues with the demo's organization. `restart`: the command that starts the demo's system again, if
 * the system ends now.
 */
export function goOnLines(url: string, { email, password }: Owner, restart?: string): string[] {
  return [
    '',
    'Go on with it',
    '-------------',
    ...(restart === undefined
      ? []
      : ['The demo stops its system now; the data stay. Start it again, in another terminal:', `  ${restart}`]),
    `Log in as its owner (the password is ${password}):`,
    `  ${loginCommand(url, email)}`,
    'Then look at its documents, or at what else there is:',
    '  npm run -s cli -- docs list',
    '  npm run -s cli -- --help',
    '',
  ];
}

/** The command that starts the demo's own system, without the settings that the demo ignores. */
function restartCommand(env: NodeJS.ProcessEnv): string {
  const folder = ownData(env);
  const fromHere = relative(process.cwd(), folder);
  const dataDir = fromHere.startsWith('..') || isAbsolute(fromHere) ? folder : fromHere;
  const unset = foreign.filter((name) => env[name]).map((name) => `${name}= `);
  return `${unset.join('')}DATA_DIR=${dataDir} npm start`;
}

async function main(argv: readonly string[], env: NodeJS.ProcessEnv, output: Output): Promise<number> {
  const started = performance.now();
  const folder = resolve(argv[0] ?? join(root, 'test', 'fixtures'));
  const given = env['SUPPORT_URL'] ? apiUrl(env['SUPPORT_URL']) : undefined;
  try {
    if (given !== undefined && !(await serves(given))) {
      throw new CliError(`No ready system answers at ${given}; leave SUPPORT_URL out and the demo starts one.`);
    }
    const running = given ?? ((await serves(defaultUrl)) ? defaultUrl : undefined);
    if (running === undefined) output.say(`No system answers at ${defaultUrl}, so the demo starts one of its own:`);
    await using own = running === undefined ? await startOwn(env, output) : undefined;
    const { failures, owner } = await runDemo(running ?? own!.url, folder, output);
    const restarted = apiUrl(`http://127.0.0.1:${Number(env['PORT']) || 3000}`);
    const lines = running === undefined ? goOnLines(restarted, owner, restartCommand(env)) : goOnLines(running, owner);
    for (const line of lines) output.say(line);
    output.say(`The demo took ${((performance.now() - started) / 1000).toFixed(1)} s.`);
    return failures === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    for (const line of errorLines(error)) output.note(line);
    return 1;
  }
}

if (import.meta.main) {
  const { stdout, stderr } = process;
  process.exitCode = await main(process.argv.slice(2), process.env, createOutput({ json: false, stdout, stderr }));
}

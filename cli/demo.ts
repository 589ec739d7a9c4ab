/**
 * `npm run demo`: does with real files what a new customer does: registers, creates a key, uploads documents, asks
 * questions, sees sources. It uses the running system, and writes only into an organization that it creates. It fails
 * if an answer is not the expected one, and prints how to log in to its organization.
 */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { apiUrl, defaultUrl, loginCommand } from './arguments.ts';
import { createClient } from './client.ts';
import { CliError, errorLines } from './errors.ts';
import { answerLines, type Answer } from './knowledge.ts';
import { createOutput, type Output } from './output.ts';
import { addDocument } from './upload.ts';
import { queryReply } from '../api/knowledge/contract/knowledge.ts';
import { createDemo } from '../engines/demo.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The format of `questions.json` in the folder of the demo's documents. `source` of a question: the file that must be
 * among the answer's sources; null when no file answers the question.
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

/** The lines that tell a person how to go on with the demo's organization. */
export function goOnLines(url: string, { email, password }: Owner): string[] {
  return [
    '',
    'Go on with it',
    '-------------',
    `Log in as its owner (the password is ${password}):`,
    `  ${loginCommand(url, email)}`,
    'Then look at its documents, or at what else there is:',
    '  npm run -s cli -- docs list',
    '  npm run -s cli -- --help',
    '',
  ];
}

async function main(argv: readonly string[], env: NodeJS.ProcessEnv, output: Output): Promise<number> {
  const started = performance.now();
  const folder = resolve(argv[0] ?? join(root, 'test', 'fixtures'));
  try {
    const url = apiUrl(env['SUPPORT_URL'] || defaultUrl);
    if (!(await serves(url))) {
      throw new CliError(
        `No ready system answers at ${url}; start one with npm start, or name another address in SUPPORT_URL.`,
      );
    }
    const { failures, owner } = await runDemo(url, folder, output);
    for (const line of goOnLines(url, owner)) output.say(line);
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

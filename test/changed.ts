/**
 * Selects the tests for `npm test -- --changed`. Most tests reach the code through processes and not by imports, so
 * they are selected by slice: a subject of the product, such as chat or crawl, whose files stand in folders of that
 * name. Everything is pure except `changedFiles`, which calls git.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { importsOf, isIn, sliceOf, type Source } from './house/imports.ts';

/**
 * Path prefixes of the tests that run when a file changes on which every slice depends: some tests of each slice, and
 * the guarantees of all routes.
 */
export const smoke: readonly string[] = [
  'test/house/',
  'test/rules/base/',
  'test/base/address.test.ts',
  'test/base/cors.test.ts',
  'test/base/http.test.ts',
  'test/base/security.test.ts',
  'test/base/operators.test.ts',
  'test/access/keys.test.ts',
  'test/knowledge/knowledge.test.ts',
  'test/crawl/recrawl.test.ts',
  'test/chat/inbox.test.ts',
  'test/workflows/histories.test.ts',
];

/** Path prefixes of files that influence which passages answer a question when embeddings are used. */
const meaning: readonly string[] = [
  'activities/knowledge/embedding.ts',
  'agent/',
  'intelligence/',
  'clients/embedding/',
  'clients/knowledge/search/',
  'models/knowledge/embedding.ts',
  'models/rules/knowledge/re',
  'workflows/knowledge/embed.ts',
];

/**
 * Long test files, and the path prefixes (`*` is one folder) whose changes make them run with `--changed`. `npm test`
 * runs all of them.
 */
export const narrow: Readonly<Record<string, readonly string[]>> = {
  'test/base/fuzz.test.ts': ['api/*/contract/', 'api/http/openapi.ts', 'test/kit/fuzzing.ts'],
  'test/base/survival.test.ts': ['workflows/start.ts', 'workers/', 'models/base/pending.ts', 'activities/knowledge/'],
  'test/chat/chat.test.ts': [
    'api/live/',
    'api/chat/',
    'models/chat/conversation.ts',
    'models/chat/log.ts',
    'models/chat/message.ts',
    'models/live/',
  ],
  'test/chat/chatproperty.test.ts': [
    'test/kit/chatstory.ts',
    'agent/chat/turn.ts',
    'models/live/',
    'api/live/',
    'models/chat/message.ts',
  ],
  'test/chat/conversation.test.ts': [
    'activities/chat/',
    'agent/chat/record.ts',
    'agent/chat/turn.ts',
    'api/chat/conversation.ts',
    'api/chat/greeting.ts',
    'models/chat/act.ts',
    'models/chat/conversation.ts',
    'models/chat/log.ts',
    'models/chat/message.ts',
    'models/rules/chat/conversation.ts',
    'workflows/chat/conversation.ts',
  ],
  'test/chat/erasureraces.test.ts': [
    'activities/chat/erasure.ts',
    'models/chat/customer',
    'models/chat/erasure.ts',
    'workflows/chat/erasure.ts',
  ],
  'test/chat/injection.test.ts': ['agent/', 'intelligence/', 'activities/chat/answer.ts'],
  'test/chat/retention.test.ts': [
    'models/rules/chat/retention.ts',
    'models/chat/retention.ts',
    'models/chat/act.ts',
    'models/live/',
  ],
  'test/chat/widget.test.ts': ['web/', 'api/chat/widget.ts', 'test/kit/chromium.ts'],
  'test/chat/tools.test.ts': [
    'activities/chat/tool',
    'agent/chat/tools.ts',
    'workflows/chat/toolcall.ts',
    'api/chat/toolcall.ts',
  ],
  'test/chat/toolservers.test.ts': [
    'activities/chat/tool',
    'clients/mcp/',
    'models/mcp/',
    'models/rules/mcp/result.ts',
    'workflows/chat/toolcall.ts',
  ],
  'test/crawl/crawlfaults.test.ts': ['activities/crawl/', 'clients/crawl/site/', 'models/crawl/frontier.ts'],
  'test/crawl/crawlkeeps.test.ts': ['activities/crawl/', 'models/crawl/', 'workflows/crawl/recrawl.ts'],
  'test/events/inbound.test.ts': [
    'activities/events/inbound/',
    'api/events/inbound',
    'api/events/routes/inbound.ts',
    'models/events/inbound.ts',
    'workflows/events/inbound.ts',
  ],
  'test/providers/slack/slackin.test.ts': ['api/events/slack.ts', 'providers/slack/'],
  'test/interviews/resumefiles.test.ts': ['clients/files/pdf.ts', 'clients/files/layout.ts', 'clients/base/sandbox.ts'],
  'test/providers/mail/mail.test.ts': [
    'activities/events/mail',
    'api/events/signatures.ts',
    'providers/mail/',
    'models/events/mailthread.ts',
    'models/events/replytoken.ts',
    'models/rules/events/mail',
    'workflows/events/mailreply.ts',
  ],
  'test/events/deaths.test.ts': ['activities/events/', 'models/events/delivery.ts', 'workflows/events/lines.ts'],
  'test/crawl/crawldeaths.test.ts': ['activities/crawl/', 'models/crawl/', 'workflows/crawl/crawl.ts'],
  'test/crawl/pages.test.ts': ['clients/crawl/site/pages', 'clients/base/'],
  'test/crawl/render.test.ts': ['clients/crawl/render/'],
  'test/crawl/scripted.test.ts': ['clients/crawl/render/'],
  'test/interviews/interviewdeaths.test.ts': [
    'activities/interviews/interview.ts',
    'workflows/start.ts',
    'api/interviews/interview.ts',
    'models/interviews/interview.ts',
    'workflows/interview',
  ],
  'test/interviews/outsidecalls.test.ts': [
    'activities/interviews/interview.ts',
    'api/interviews/reports.ts',
    'providers/recall/',
    'workflows/interview',
  ],
  'test/providers/recall/attendee.test.ts': [
    'activities/interviews/interview.ts',
    'api/interviews/reports.ts',
    'providers/recall/',
    'workflows/interview',
  ],
  'test/interviews/walk.test.ts': ['models/rules/interviews/interview.ts', 'workflows/interview'],
  'test/knowledge/embedding.test.ts': ['clients/embedding/', 'engines/embedding/'],
  'test/knowledge/embeddings.test.ts': ['clients/embedding/', 'engines/embedding/'],
  'test/knowledge/files.test.ts': ['clients/files/', 'clients/base/'],
  'test/knowledge/killed.test.ts': [
    'workflows/start.ts',
    'api/knowledge/',
    'models/knowledge/document.ts',
    'models/knowledge/removal.ts',
  ],
  'test/knowledge/meaning.test.ts': meaning,
  'test/knowledge/paraphrases.test.ts': meaning,
  'test/tasks/execution.test.ts': [
    'activities/tasks/execution.ts',
    'providers/',
    'api/tasks/routes/tasks.ts',
    'api/tasks/execution.ts',
    'models/rules/tasks/execution.ts',
    'models/tasks/execution.ts',
    'workflows/tasks/taskexecution.ts',
  ],
  'test/tasks/executiondeaths.test.ts': [
    'activities/tasks/execution.ts',
    'providers/',
    'models/tasks/execution.ts',
    'workflows/tasks/taskexecution.ts',
  ],
  'test/workflows/interviews/interview.test.ts': ['models/rules/interviews/', 'workflows/interview'],
  'test/workflows/longruns.test.ts': [
    'workflows/events/inbound.ts',
    'workflows/interview',
    'workflows/events/lines.ts',
    'workflows/base/options.ts',
    'workflows/events/ticketevents.ts',
  ],
  'test/knowledge/hostile.test.ts': ['clients/files/', 'api/knowledge/routes/documents.ts'],
};

/** Top-level folders whose files outside of a slice's folder belong to the slices of the files that import them. */
const serving = /^(clients|intelligence|providers)\//;

/** Top-level folders whose tests are in the folder of the same name below test/. */
const ownFolder: readonly string[] = ['cli', 'engines'];
/** Path prefixes of files that only the tests in test/house/ cover. */
const onlyHouse = ['bench/', 'docs/', '.ci/', '.github/'];

/** Tests of pure functions. They are fast, so an indirect import is enough to run them. */
const pure = ['test/rules/', 'test/intelligence/'];

/** When at most this many tests, long ones included, use a changed file of test/kit/, all of them run. */
const fewTests = 5;
/** When more tests than this use a changed file of test/kit/, the smoke tests run instead of them. */
const manyTests = 20;
/**
 * When a changed file is used by more slices (chat, crawl, …) than this, the smoke tests are run instead of all tests
 * of these slices.
 */
const manySlices = 4;

const isTest = (path: string): boolean => path.endsWith('.test.ts');

/**
 * The test files to run for the changed paths, sorted. `sources` are all files of the project with their imports. A
 * changed path that is missing there was removed or is not TypeScript.
 */
export function testsFor(changed: readonly string[], sources: readonly Source[]): string[] {
  const graph = graphOf(sources);
  const tests = sources.map(({ path }) => path).filter((path) => isTest(path) && !path.startsWith('test/soak/'));
  const chosen = new Set(changed.flatMap((path) => [...testsOf(path, tests, graph)]));
  return [...chosen].toSorted();
}

type Graph = { imports: ReadonlyMap<string, readonly string[]>; importers: ReadonlyMap<string, readonly string[]> };

function graphOf(sources: readonly Source[]): Graph {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const importers = new Map<string, string[]>();
  for (const [path, targets] of imports)
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), path]);
  return { imports, importers };
}

function* testsOf(path: string, tests: readonly string[], graph: Graph): Iterable<string> {
  const under = (prefixes: readonly string[]): string[] =>
    tests.filter((test) => prefixes.some((prefix) => test.startsWith(prefix)));
  if (isTest(path)) {
    yield* tests.filter((test) => test === path);
    return;
  }
  yield* under(['test/house/']);
  if (onlyHouse.some((prefix) => path.startsWith(prefix)) || path.endsWith('.md')) return;
  const about = tests.filter((test) => narrow[test]?.some((prefix) => isIn(path, prefix)));
  const wide = (prefixes: readonly string[]): string[] => under(prefixes).filter((test) => !(test in narrow));
  const distant = reached(path, graph);
  const near = tests.filter(
    (test) =>
      distant.has(test) && (pure.some((prefix) => test.startsWith(prefix)) || graph.imports.get(test)?.includes(path)),
  );
  // A file of test/kit/ that few tests use runs exactly these tests.
  const own = path.startsWith('test/kit/') && near.length <= fewTests;
  const everywhere = path.startsWith('test/kit/') && near.length > manyTests;
  yield* [...about, ...(everywhere ? [] : near.filter((test) => own || !(test in narrow)))];
  const room = path.split('/', 1)[0]!;
  if (room === 'workflows') yield* under(['test/workflows/']);
  if (room === 'providers') yield* wide([`test/${path.split('/', 2).join('/')}/`]);
  if (ownFolder.includes(room)) yield* under([`test/${room}/`]);
  else if (room === 'web') yield* under(['test/chat/widget', 'test/interviews/roompage']);
  else if (path.startsWith('test/fixtures/') || path.startsWith('test/histories/'))
    yield* wide(['test/workflows/', 'test/knowledge/']);
  else {
    const found = slicesOf(path, graph);
    if (found.length <= manySlices)
      for (const slice of found) yield* wide(['test/', ...pure].map((folder) => `${folder}${slice}/`));
    if (found.length === 0 || found.length > manySlices || found.includes('base')) yield* wide(smoke);
  }
}

/** The slices of a file: its own, or those that use the file. Empty when all slices depend on it. */
function slicesOf(path: string, graph: Graph): string[] {
  const own = sliceOf(path);
  if (own !== undefined) return [own];
  if (!serving.test(path)) return [];
  const users = [...reached(path, graph, (file) => sliceOf(file) !== undefined || !serving.test(file))];
  return [...new Set(users.flatMap((file) => sliceOf(file) ?? []))];
}

/** Every file that imports this one directly or indirectly. The search stops at files for which `ends` is true. */
function reached(path: string, { importers }: Graph, ends: (file: string) => boolean = () => false): Set<string> {
  const found = new Set<string>();
  const queue = [path];
  for (const file of queue) {
    for (const importer of importers.get(file) ?? []) {
      if (found.has(importer)) continue;
      found.add(importer);
      if (!ends(importer)) queue.push(importer);
    }
  }
  return found;
}

/**
 * The files that differ from `base`: in commits, in the working tree, and new files. The default base is the commit
 * where this branch left main. On main these are the uncommitted changes, or else the last commit.
 */
export async function changedFiles(root: string, base?: string): Promise<string[]> {
  const git = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await promisify(execFile)('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const since = async (from: string): Promise<string[]> => [
    ...(await git('diff', '--name-only', '--no-renames', from)),
    ...(await git('ls-files', '--others', '--exclude-standard')),
  ];
  if (base !== undefined) return since(base);
  for (const main of ['origin/main', 'main']) {
    const [left] = await git('merge-base', 'HEAD', main).catch(() => []);
    const found = left === undefined ? [] : await since(left);
    if (found.length > 0) return found;
  }
  const uncommitted = await since('HEAD');
  return uncommitted.length > 0 ? uncommitted : since('HEAD~1');
}

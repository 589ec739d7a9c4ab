/**
 * Who may import whom: the rooms and what each may reach, the order of the slices, and that no files import each other
 * in a circle. `npm run check` and architecture.test.ts use it; it reads files and runs none of them.
 */
import { readFile, readdir } from 'node:fs/promises';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path/posix';
import { parse } from 'es-module-lexer';

/**
 * What one room may import. `files` are prefixes of paths from the project's root, in which `*` stands for one folder;
 * leaving a member out allows nothing.
 */
type Room = {
  /** The files of the room: a folder ending in `/` (`*` is any one folder), or one file. A file is in the first that fits. */
  at: string;
  files: readonly string[];
  /** Further files of which only the types may be imported. */
  typesOf?: readonly string[];
  packages?: readonly string[] | 'any';
  /** Whether node:* is allowed. */
  node?: boolean;
};

/** Who may import whom. A file that fits no room (workers, engines, bench, test) may import anything. */
export const rooms: readonly Room[] = [
  // The rules of a provider are as pure as the others.
  { at: 'models/rules/', files: ['models/rules/', 'providers/*/rules.ts'] },
  { at: 'providers/*/rules.ts', files: ['models/rules/'] },
  {
    at: 'models/',
    files: ['models/', 'providers/*/rules.ts'],
    packages: ['dataloader', 'lru-cache', 'mongoose', 'mongodb-connection-string-url', 'ulid'],
    node: true,
  },
  { at: 'api/*/contract/', files: ['api/*/contract/', 'models/rules/', 'providers/*/rules.ts'], packages: ['zod'] },
  {
    at: 'api/',
    // Of the clients only those that read: a file's head is looked at before it is taken, and of the index the half that reads.
    files: [
      'api/',
      'agent/',
      'intelligence/',
      'models/',
      'workflows/',
      'config.ts',
      'clients/embedding/',
      'clients/schema/',
      'clients/files',
      // What verifies signed requests fetches the keys of those who sign.
      'clients/http/http.ts',
      'providers/*/rules.ts',
      'providers/*/verify.ts',
      'providers/base/',
      'providers/mail/sns.ts',
      'providers/teams/connect.ts',
      'clients/knowledge/search/reader.ts',
    ],
    packages: 'any',
    node: true,
  },
  // What a language model does, and what is done without one: it decides nothing and knows no record.
  {
    at: 'intelligence/',
    files: ['intelligence/', 'clients/', 'models/rules/'],
    packages: 'any',
    node: true,
  },
  // agent/ reads and asks models; the only thing that it stores is unanswered questions.
  // Of the index the half that reads.
  {
    at: 'agent/',
    files: ['agent/', 'intelligence/', 'models/', 'clients/embedding/', 'clients/knowledge/search/reader.ts'],
  },
  // It starts workflows and is none: processes import it, workflows do not.
  {
    at: 'workflows/start.ts',
    files: ['workflows/attributes.ts', 'workflows/base/', 'models/'],
    typesOf: ['workflows/index.ts'],
    packages: ['@temporalio/client', '@temporalio/common', 'mongoose', 'pino'],
  },
  {
    at: 'workflows/',
    files: ['workflows/*/', 'workflows/attributes.ts', 'models/rules/'],
    typesOf: ['activities/'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  { at: 'clients/', files: ['clients/', 'models/rules/'], packages: 'any', node: true },
  // What a service is sent and what its events do; a question that was asked there is answered by agent/.
  { at: 'providers/', files: ['providers/', 'agent/knowledge/', 'models/', 'clients/'], packages: 'any', node: true },
  {
    at: 'activities/',
    files: ['activities/', 'agent/', 'intelligence/', 'models/', 'clients/', 'providers/'],
    packages: 'any',
    node: true,
  },
  { at: 'cli/demo.ts', files: ['cli/', 'api/*/contract/', 'engines/'], packages: 'any', node: true },
  // It works on the database of the machine it runs on.
  { at: 'cli/operator.ts', files: ['cli/', 'config.ts', 'engines/', 'models/'], packages: 'any', node: true },
  { at: 'cli/', files: ['cli/', 'api/*/contract/'], packages: 'any', node: true },
  // Browser code: it must not import server code.
  { at: 'web/', files: ['web/'] },
  { at: 'config.ts', files: ['models/rules/', 'providers/*/rules.ts'], packages: ['zod'], node: true },
];

/** The slices, the lowest first: a file may import its own slice and those before it, of its room and of every other. */
export const slices = [
  'base',
  'language',
  'live',
  'access',
  'integrations',
  'knowledge',
  'crawl',
  'mcp',
  'chat',
  'events',
  'interviews',
  'tasks',
] as const;
type Slice = (typeof slices)[number];

/**
 * The rooms whose folders are slices. Each file of those marked `whole` lies in a slice. The others hold lists of what the
 * slices declare and what serves all of them: `api/http/`, `workflows/index.ts`, `clients/http/`.
 */
export const slicedRooms: readonly { at: string; whole: boolean }[] = [
  { at: 'models/rules/', whole: true },
  { at: 'models/', whole: true },
  { at: 'activities/', whole: true },
  { at: 'agent/', whole: true },
  { at: 'intelligence/model/', whole: false },
  { at: 'intelligence/offline/', whole: false },
  { at: 'api/', whole: false },
  { at: 'workflows/', whole: false },
  { at: 'clients/', whole: false },
  { at: 'test/workflows/', whole: false },
];

/**
 * Folders that serve every slice and know only who calls: of the slices they reach no higher than `access`. The file that
 * puts the routes of all slices together is the exception.
 */
export const belowSlices: readonly string[] = ['api/http/', 'api/live/'];
const puttingTogether = 'api/http/app.ts';

/** A source file: its path from the project's root, and what it imports, as it is written there. */
export type Source = { path: string; runtime: readonly string[]; types: readonly string[] };

/** The violations in one file that its rooms and its slice see, each a sentence. */
function violationsIn(source: Source, declared: ReadonlySet<string>): string[] {
  return [...undeclaredIn(source, declared), ...refusedIn(source), ...outOfOrderIn(source)];
}

/**
 * An import of a package that package.json does not name works only while another package happens to bring it along.
 */
function undeclaredIn({ path, runtime }: Source, declared: ReadonlySet<string>): string[] {
  return runtime
    .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier) && !declared.has(packageOf(specifier)))
    .map((specifier) => `${path} may not import ${specifier} (package.json does not name it)`);
}

/** Whether a path begins with a prefix; `*` in the prefix stands for one folder. */
export function isIn(path: string, prefix: string): boolean {
  const wanted = prefix.split('/');
  const parts = path.split('/');
  return wanted.every((part, at) =>
    part === '*' ? parts.length > at + 1 : at < wanted.length - 1 ? parts[at] === part : parts[at]?.startsWith(part),
  );
}

/** Imports that the room of a file forbids. */
function refusedIn({ path, runtime, types }: Source): string[] {
  const room = rooms.find(({ at }) => isIn(path, at));
  if (room === undefined) return [];
  const refused = [
    ...runtime.filter((specifier) => !allowed(room, path, specifier, false)),
    ...types.filter((specifier) => !allowed(room, path, specifier, true)),
  ];
  return refused.map((specifier) => `${path} may not import ${specifier} (${room.at} may reach: ${reach(room)})`);
}

/** Imports of a slice that comes after the file's own, types too; and a file that lies in no slice where all should. */
function outOfOrderIn(source: Source): string[] {
  const { path } = source;
  const highest = highestSlice(path);
  const room = slicedRooms.find(({ at }) => path.startsWith(at));
  if (highest === undefined) return room?.whole ? [`${path} is in no slice (${slices.join(', ')})`] : [];
  return filesOf(source).flatMap(([specifier, target]) => {
    const slice = sliceOf(target);
    if (slice === undefined || slices.indexOf(slice) <= slices.indexOf(highest)) return [];
    return [`${path} may not import ${specifier} (the slice ${slice} comes after ${highest})`];
  });
}

/** The slice a file is in, where its room has slices. */
export function sliceOf(path: string): Slice | undefined {
  const room = slicedRooms.find(({ at }) => path.startsWith(at));
  const folder = room && path.slice(room.at.length).split('/', 2);
  return folder?.length === 2 ? slices.find((slice) => slice === folder[0]) : undefined;
}

/** The highest slice that a file may import; undefined where it may import all. */
function highestSlice(path: string): Slice | undefined {
  if (path === puttingTogether) return undefined;
  return belowSlices.some((folder) => path.startsWith(folder)) ? 'access' : sliceOf(path);
}

/** The project's own files that a source imports, as paths from the root. */
export const importsOf = (source: Source): string[] => filesOf(source).map(([, target]) => target);

/** What a source imports of the project's own files: as it is written there, and as a path from the root. */
function filesOf({ path, runtime, types }: Source): [specifier: string, target: string][] {
  return [...new Set([...runtime, ...types])]
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => [specifier, join(dirname(path), specifier)]);
}

/**
 * The circles of imports, each a sentence with the shortest way around, one for every group of files that reach each
 * other. Imports of types count: what needs another's types cannot be understood without it.
 */
function circlesAmong(sources: readonly Source[]): string[] {
  const targets = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const told = new Set<string>();
  return sources.flatMap(({ path }) => {
    if (told.has(path)) return [];
    const circle = wayAround(path, targets);
    for (const file of circle) told.add(file);
    return circle.length === 0 ? [] : [`${[...circle, path].join(' imports ')}: a circle`];
  });
}

/** The shortest way from a file back to itself, without its end; empty when there is none. */
function wayAround(from: string, targets: ReadonlyMap<string, readonly string[]>): string[] {
  const cameFrom = new Map<string, string>();
  const queue = [from];
  for (const file of queue) {
    for (const target of targets.get(file) ?? []) {
      if (target === from) {
        const way = [file];
        while (way[0] !== from) way.unshift(cameFrom.get(way[0]!)!);
        return way;
      }
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      queue.push(target);
    }
  }
  return [];
}

/** `@scope/name` or `name` of an import of a package or of a file in it. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function reach(room: Room): string {
  const types = (room.typesOf ?? []).map((prefix) => `types of ${prefix}`);
  const packages = room.packages === 'any' ? ['any package'] : (room.packages ?? []);
  return [...room.files, ...types, ...packages, ...(room.node ? ['node:*'] : [])].join(', ');
}

function allowed(room: Room, path: string, specifier: string, typeOnly: boolean): boolean {
  if (isBuiltin(specifier)) return room.node === true;
  if (specifier.startsWith('.')) {
    const target = join(dirname(path), specifier);
    const prefixes = typeOnly ? [...room.files, ...(room.typesOf ?? [])] : room.files;
    return prefixes.some((prefix) => isIn(target, prefix));
  }
  return room.packages === 'any' || (room.packages ?? []).includes(packageOf(specifier));
}

/** Imports that remain when the types are gone: static, re-exported and dynamic ones with a literal specifier. */
function runtimeImports(path: string, source: string): string[] {
  const [imports] = parse(stripTypeScriptTypes(source), path);
  return imports.flatMap((found) =>
    'specifier' in found && typeof found.specifier === 'string' ? [found.specifier] : [],
  );
}

/** `import type … from`, `export type … from` and `import('…')` in a type position all vanish at run time, so they are read here. */
function typeImports(source: string): string[] {
  const statements = source.matchAll(/^(?:import|export)\s+type\s[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm);
  const positions = source.matchAll(/(?:[:=<|&,(]|\btypeof)\s*import\(['"]([^'"]+)['"]\)/g);
  return [...statements, ...positions].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));
}

/** Every violation under `root`, in the order of the files. Empty when all is well. */
export async function importViolations(root: string): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, object | undefined>;
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'];
  const declared = new Set(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})));
  const sources = await readSources(root);
  return [...sources.flatMap((source) => violationsIn(source, declared)), ...circlesAmong(sources)];
}

/** Every TypeScript file under `root`, with what it imports. */
export async function readSources(root: string): Promise<Source[]> {
  const files = await sourceFiles(root);
  return Promise.all(
    files.map(async (file) => {
      const path = relative(root, file);
      const text = await readFile(file, 'utf8');
      return { path, runtime: runtimeImports(path, text), types: typeImports(text) };
    }),
  );
}

async function sourceFiles(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(
    ({ name }) => !name.startsWith('.') && name !== 'node_modules',
  );
  const here = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ name }) => join(folder, name));
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map(({ name }) => sourceFiles(join(folder, name))),
  );
  return [...here, ...below.flat()].sort();
}

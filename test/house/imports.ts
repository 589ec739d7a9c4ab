/**
 * The import rules: what each room (a folder or file with rules of its own) may import, the order of the slices, and
 * that files do not import each other in a cycle. docs/architecture.md describes rooms and slices. `npm run check` and
 * architecture.test.ts use the rules. The check reads files and runs none of them.
 */
import { readFile, readdir } from 'node:fs/promises';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path/posix';
import { parse } from 'es-module-lexer';
import { transformSync, type TransformOptions } from 'esbuild';

/**
 * What a room may import. `files` are path prefixes from the project's root, in which `*` stands for one folder. A
 * missing member allows nothing.
 */
type Room = {
  /**
   * The files of the room: a folder ending in `/` (`*` is any one folder), or one file. A file belongs to the first
   * room that fits.
   */
  at: string;
  files: readonly string[];
  /** Path prefixes of files, and packages, from which only types may be imported. */
  typesOf?: readonly string[];
  packages?: readonly string[] | 'any';
  /** Whether modules of `node:` may be imported. */
  node?: boolean;
};

/**
 * The rooms and their allowed imports. A file that fits no room (workers, engines, bench, test) may import anything.
 */
export const rooms: readonly Room[] = [
  // The rules of a provider are as pure as the other rules.
  { at: 'models/rules/', files: ['models/rules/', 'providers/*/rules.ts'], packages: ['ipaddr.js'] },
  { at: 'providers/*/rules.ts', files: ['models/rules/'] },
  {
    at: 'models/',
    files: ['models/', 'providers/*/rules.ts'],
    packages: ['dataloader', 'ioredis', 'lru-cache', 'mongoose', 'mongodb-connection-string-url', 'ulid'],
    node: true,
  },
  { at: 'api/*/contract/', files: ['api/*/contract/', 'models/rules/', 'providers/*/rules.ts'], packages: ['zod'] },
  {
    at: 'api/',
    // Only clients that read are allowed: the one that looks at the head of a file before it is accepted, and the
    // reading half of the search index.
    files: [
      'api/',
      'agent/',
      'intelligence/',
      'models/',
      'workflows/',
      'config.ts',
      'clients/base/meter.ts',
      'clients/base/tracing.ts',
      'clients/embedding/',
      'clients/schema/',
      'clients/files',
      // Verifying a signed request requires fetching the keys of the signer.
      'clients/http/http.ts',
      'providers/*/rules.ts',
      'providers/*/verify.ts',
      'providers/base/',
      'providers/mail/sns.ts',
      'providers/teams/connect.ts',
      'clients/knowledge/search/reader.ts',
      // Resumes are read by the program that workers build for reading files.
      'workers/readers.ts',
    ],
    packages: 'any',
    node: true,
  },
  // The tasks of a language model, and their replacements without one. This room makes no decisions and knows no
  // records.
  {
    at: 'intelligence/',
    files: ['intelligence/', 'clients/', 'models/rules/'],
    packages: 'any',
    node: true,
  },
  // agent/ reads records and asks language and embedding models. It stores nothing but unanswered questions. Of the
  // search index it may import what reads, not what writes.
  {
    at: 'agent/',
    files: ['agent/', 'intelligence/', 'models/', 'clients/embedding/', 'clients/knowledge/search/reader.ts'],
  },
  // This file starts workflows and is not one. Processes import it, workflows do not.
  {
    at: 'workflows/start.ts',
    files: ['workflows/attributes.ts', 'workflows/base/', 'models/'],
    typesOf: ['workflows/index.ts'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/proto', 'mongoose', 'pino'],
  },
  {
    at: 'workflows/tracing.ts',
    files: ['models/base/trace.ts', 'models/rules/'],
    packages: ['@temporalio/client', '@temporalio/common'],
  },
  {
    at: 'workflows/encryption.ts',
    files: ['models/'],
    packages: ['@temporalio/common'],
    node: true,
  },
  {
    at: 'workflows/',
    files: ['workflows/*/', 'workflows/attributes.ts', 'workflows/index.ts', 'models/rules/'],
    typesOf: ['activities/'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  { at: 'clients/', files: ['clients/', 'models/rules/'], packages: 'any', node: true },
  // Providers send messages to services and handle events of services. agent/ answers questions that are asked there.
  { at: 'providers/', files: ['providers/', 'agent/knowledge/', 'models/', 'clients/'], packages: 'any', node: true },
  {
    at: 'activities/',
    files: ['activities/', 'agent/', 'intelligence/', 'models/', 'clients/', 'providers/'],
    packages: 'any',
    node: true,
  },
  { at: 'cli/demo.ts', files: ['cli/', 'api/*/contract/', 'engines/'], packages: 'any', node: true },
  // The commands of an operator use the database and Temporal directly.
  {
    at: 'cli/operator/',
    files: [
      'cli/',
      'clients/knowledge/search/reader.ts',
      'config.ts',
      'engines/',
      'models/',
      'providers/mail/',
      'workflows/base/',
      'workflows/attributes.ts',
      'workflows/encryption.ts',
      'workflows/start.ts',
    ],
    packages: 'any',
    node: true,
  },
  { at: 'cli/', files: ['cli/', 'api/*/contract/'], packages: 'any', node: true },
  // Browser code must not import server code. In the page `/app`, nothing imports a screen but screens.
  // From a contract, the page imports operations and types; it is not bundled with anything else.
  { at: 'web/app/rules/', files: ['web/app/rules/'], typesOf: ['api/*/contract/'] },
  { at: 'web/app/api/', files: ['web/app/api/'], typesOf: ['api/*/contract/', 'zod'] },
  { at: 'web/app/texts/', files: ['web/app/texts/'], packages: ['@preact/signals'] },
  {
    at: 'web/app/parts/',
    files: ['web/app/parts/', 'web/app/rules/', 'web/live/'],
    packages: ['preact', '@preact/signals'],
  },
  {
    at: 'web/app/state/',
    files: ['web/app/state/', 'web/app/api/', 'api/*/contract/', 'web/app/rules/', 'web/app/texts/', 'web/live/'],
    packages: ['@preact/signals'],
  },
  { at: 'web/app/', files: ['web/app/', 'api/*/contract/'], packages: ['preact', '@preact/signals', 'marked'] },
  { at: 'web/', files: ['web/'], typesOf: ['api/*/contract/'] },
  { at: 'config.ts', files: ['models/rules/', 'providers/*/rules.ts'], packages: ['zod'], node: true },
];

/**
 * The slices, the lowest first. A file may import its own slice and the ones before it, in its own room and in others.
 */
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
 * The rooms whose folders are slices. In a room marked `whole` every file belongs to a slice. The other rooms also have
 * lists of what the slices declare, and code for all slices: `api/http/`, `workflows/index.ts`, `clients/http/`.
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
 * Folders that serve every slice and need only to know who calls. So they may import the slices up to `access`, and no
 * later ones. The file that combines the routes of all slices is the exception.
 */
export const belowSlices: readonly string[] = ['api/http/', 'api/live/'];
const puttingTogether = 'api/http/app.ts';

/** A source file: its path from the project's root, and its import specifiers as written. */
export type Source = { path: string; runtime: readonly string[]; types: readonly string[] };

/** The violations of one file against its room and its slice, each as a sentence. */
function violationsIn(source: Source, declared: ReadonlySet<string>): string[] {
  return [...undeclaredIn(source, declared), ...refusedIn(source), ...outOfOrderIn(source)];
}

/** An import of a package that package.json does not name works only while another package happens to install it. */
function undeclaredIn({ path, runtime }: Source, declared: ReadonlySet<string>): string[] {
  return runtime
    .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier) && !declared.has(packageOf(specifier)))
    .map((specifier) => `${path} may not import ${specifier} (package.json does not name it)`);
}

/** Whether a path starts with a prefix. `*` in the prefix stands for one folder. */
export function isIn(path: string, prefix: string): boolean {
  const wanted = prefix.split('/');
  const parts = path.split('/');
  return wanted.every((part, at) =>
    part === '*' ? parts.length > at + 1 : at < wanted.length - 1 ? parts[at] === part : parts[at]?.startsWith(part),
  );
}

/** The imports that the room of a file forbids. */
function refusedIn({ path, runtime, types }: Source): string[] {
  const room = rooms.find(({ at }) => isIn(path, at));
  if (room === undefined) return [];
  const refused = [
    ...runtime.filter((specifier) => !allowed(room, path, specifier, false)),
    ...types.filter((specifier) => !allowed(room, path, specifier, true)),
  ];
  return refused.map((specifier) => `${path} may not import ${specifier} (${room.at} may reach: ${reach(room)})`);
}

/**
 * Imports from a slice after the file's own, types included. Also reports a file that must be in a slice and is in
 * none.
 */
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

/** The slice of a file, if its room has slices. */
export function sliceOf(path: string): Slice | undefined {
  const room = slicedRooms.find(({ at }) => path.startsWith(at));
  const folder = room && path.slice(room.at.length).split('/', 2);
  return folder?.length === 2 ? slices.find((slice) => slice === folder[0]) : undefined;
}

/** The highest slice that a file may import. Undefined when the file may import all. */
function highestSlice(path: string): Slice | undefined {
  if (path === puttingTogether) return undefined;
  return belowSlices.some((folder) => path.startsWith(folder)) ? 'access' : sliceOf(path);
}

/** The project's own files that a source imports, as paths from the root. */
export const importsOf = (source: Source): string[] => filesOf(source).map(([, target]) => target);

/** The project's own files that a source imports: the specifier as written, and the path from the root. */
function filesOf({ path, runtime, types }: Source): [specifier: string, target: string][] {
  return [...new Set([...runtime, ...types])]
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => [specifier, join(dirname(path), specifier)]);
}

/**
 * The import cycles, each as a sentence with the shortest way around, one for every strongly connected group of files.
 * Type imports count, because a file cannot be understood without the types that it uses.
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

/** The shortest import path from a file back to itself, without its end. Empty when there is none. */
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

/** Returns `@scope/name` or `name` for an import of a package or of a file in it. */
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
  const types = typeOnly ? (room.typesOf ?? []) : [];
  if (specifier.startsWith('.')) {
    const target = join(dirname(path), specifier);
    return [...room.files, ...types].some((prefix) => isIn(target, prefix));
  }
  return room.packages === 'any' || [...(room.packages ?? []), ...types].includes(packageOf(specifier));
}

const tsx = {
  loader: 'tsx',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
} as const satisfies TransformOptions;

/** Imports that remain at run time: static, re-exported and dynamic ones with a literal specifier. */
function runtimeImports(path: string, source: string): string[] {
  const script = path.endsWith('.tsx') ? transformSync(source, tsx).code : stripTypeScriptTypes(source);
  const [imports] = parse(script, path);
  return imports.flatMap((found) =>
    'specifier' in found && typeof found.specifier === 'string' ? [found.specifier] : [],
  );
}

/**
 * Type imports vanish at run time: `import type … from`, `export type … from` and `import('…')` as a type. They are
 * read here.
 */
function typeImports(source: string): string[] {
  const statements = source.matchAll(/^(?:import|export)\s+type\s[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm);
  const positions = source.matchAll(/(?:[:=<|&,(]|\btypeof)\s*import\(['"]([^'"]+)['"]\)/g);
  return [...statements, ...positions].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));
}

/** Every violation under `root`, in the order of the files. Empty when there is none. */
export async function importViolations(root: string): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, object | undefined>;
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'];
  const declared = new Set(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})));
  const sources = await readSources(root);
  return [...sources.flatMap((source) => violationsIn(source, declared)), ...circlesAmong(sources)];
}

/** Every TypeScript file under `root` with its imports. */
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
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(({ name }) => join(folder, name));
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map(({ name }) => sourceFiles(join(folder, name))),
  );
  return [...here, ...below.flat()].sort();
}

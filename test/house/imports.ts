/**
 * Who may import whom: the rooms of the project and what each may reach, checked against every source file.
 * Used by `npm run check` and by architecture.test.ts; it reads files and runs none of them.
 */
import { readFile, readdir } from 'node:fs/promises';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path/posix';
import { parse } from 'es-module-lexer';

/** What one room may import. `files` are path prefixes from the project's root; leaving a member out allows nothing. */
type Room = {
  /** The files it speaks about: a folder ending in `/`, or one file. The first room that fits a file is its room. */
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
  { at: 'models/rules/', files: ['models/rules/'] },
  {
    at: 'models/',
    files: ['models/'],
    packages: ['dataloader', 'lru-cache', 'mongoose', 'mongodb-connection-string-url', 'ulid'],
    node: true,
  },
  { at: 'api/contract/', files: ['api/contract/', 'models/rules/'], packages: ['zod'] },
  {
    at: 'api/',
    // Of the clients only those that read: a file's head is looked at before it is taken.
    files: ['api/', 'agent/', 'models/', 'workflows/', 'config.ts', 'clients/ai', 'clients/files', 'clients/search'],
    packages: 'any',
    node: true,
  },
  // What answers: it reads and asks, and changes nothing but what was asked in vain.
  { at: 'agent/', files: ['agent/', 'models/', 'clients/ai', 'clients/search'], node: true },
  {
    at: 'workflows/',
    files: ['workflows/', 'models/rules/'],
    typesOf: ['activities/'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  { at: 'clients/', files: ['clients/', 'models/rules/'], packages: 'any', node: true },
  { at: 'activities/', files: ['activities/', 'agent/', 'models/', 'clients/'], packages: 'any', node: true },
  { at: 'cli/demo.ts', files: ['cli/', 'api/contract/', 'engines/'], packages: 'any', node: true },
  { at: 'cli/', files: ['cli/', 'api/contract/'], packages: 'any', node: true },
  // What browsers run: it may be given nothing of the server's.
  { at: 'web/', files: ['web/'] },
  { at: 'config.ts', files: ['models/rules/'], packages: ['zod'], node: true },
];

/**
 * The violations in one file, each a sentence; `path` is relative to the project's root. A package that is not in
 * `declared` is one too, for it works only as long as another package happens to bring it along.
 */
export function violationsIn(path: string, source: string, declared: ReadonlySet<string>): string[] {
  const runtime = runtimeImports(path, source);
  const undeclared = runtime
    .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier) && !declared.has(packageOf(specifier)))
    .map((specifier) => `${path} may not import ${specifier} (package.json does not name it)`);
  const room = rooms.find(({ at }) => (at.endsWith('/') ? path.startsWith(at) : path === at));
  if (room === undefined) return undeclared;
  const refused = [
    ...runtime.filter((specifier) => !allowed(room, path, specifier, false)),
    ...typeImports(source).filter((specifier) => !allowed(room, path, specifier, true)),
  ];
  return [
    ...undeclared,
    ...refused.map((specifier) => `${path} may not import ${specifier} (${room.at} may reach: ${reach(room)})`),
  ];
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
    return prefixes.some((prefix) => target.startsWith(prefix));
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

/** Every violation under `root`, in the order of the files. Empty is what everybody wants. */
export async function importViolations(root: string): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, object | undefined>;
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'];
  const declared = new Set(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})));
  const files = await sourceFiles(root);
  const found = await Promise.all(
    files.map(async (file) => violationsIn(relative(root, file), await readFile(file, 'utf8'), declared)),
  );
  return found.flat();
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

/** Everything that the documents name must exist: files, folders, links, headings, scripts and decisions. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, it, expect } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files and folders of the project, as paths from its root. Folders end with a slash. */
type Tree = { files: ReadonlySet<string>; folders: ReadonlySet<string> };

async function treeOf(folder: string): Promise<Tree> {
  const files = new Set<string>();
  const folders = new Set<string>();
  const visit = async (at: string): Promise<void> => {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = at + entry.name;
      if (['node_modules', '.git', '.data'].includes(entry.name)) continue;
      if (entry.isDirectory()) {
        folders.add(`${path}/`);
        await visit(`${path}/`);
      } else files.add(path);
    }
  };
  await visit('');
  return { files, folders };
}

const withoutBlocks = (text: string): string => text.replaceAll(/^```.*?^```/gms, '');

/** The anchors that GitHub generates for the headings: lower case, words joined by hyphens. */
function anchorsOf(text: string): Set<string> {
  const headings = withoutBlocks(text).matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, heading]) => anchor(heading!)));
}
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The links of a document that point to no file or heading of the project. */
export function brokenLinks(path: string, documents: ReadonlyMap<string, string>, tree: Tree): string[] {
  const links = [...withoutBlocks(documents.get(path)!).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file, heading] = link.split('#', 2);
    const target = file === '' ? path : normalize(join(dirname(path), file!));
    if (!tree.files.has(target) && !tree.folders.has(target) && !tree.folders.has(`${target}/`)) return true;
    return heading !== undefined && !anchorsOf(documents.get(target) ?? '').has(heading);
  });
}

/**
 * Paths in backticks that do not exist. A name without a folder may belong to any file, and `*` stands for any text.
 */
export function missingPaths(text: string, tree: Tree): string[] {
  const tops = new Set([...tree.files, ...tree.folders].map((path) => path.split('/')[0]!));
  const named = [...withoutBlocks(text).matchAll(/`([\w.@*-]+(?:\/[\w.@*-]+)*\/?)`/g)].map(([, path]) => path!);
  return named.filter((path) => {
    const isSource = /\.(ts|mjs|mts|css|html)$/.test(path);
    const isPath = path.includes('/') && (isSource || path.endsWith('/') || tops.has(path.split('/')[0]!));
    if (!isSource && !isPath) return false;
    return !exists(path, tree);
  });
}

function exists(path: string, { files, folders }: Tree): boolean {
  const pattern = path.replaceAll(/[.]/g, String.raw`\.`).replaceAll('*', '[^/]*');
  // A single name, such as `routes/` or `queues.ts`, may be in any folder. A longer path starts at the root.
  const prefix = path.replace(/\/$/, '').includes('/') ? '^' : '(?:^|/)';
  const suffix = path.endsWith('/') ? '$' : '/?$';
  const found = new RegExp(prefix + pattern + suffix);
  return [...files, ...folders].some((known) => found.test(known));
}

const scriptsIn = (text: string): string[] =>
  [...text.matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(start|test))\b/g)].map(([, run, short]) => (run ?? short)!);

/** The numbers of the decisions that a text refers to. */
const referencesIn = (text: string): string[] =>
  [...text.matchAll(/\bdecisions? (\d+)/gi)].map(([, number]) => number!);

const tree = await treeOf(root);
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const isDocument = (path: string): boolean =>
  ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'].includes(path) || (path.startsWith('docs/') && path.endsWith('.md'));
const documents = new Map(
  await Promise.all([...tree.files].filter(isDocument).map(async (path) => [path, await read(path)] as const)),
);
const sources = await Promise.all(
  [...tree.files].filter((path) => /\.m?ts$/.test(path)).map(async (path) => [path, await read(path)] as const),
);
const decisions = [...documents]
  .filter(([path]) => path.startsWith('docs/decisions/'))
  .flatMap(([, text]) => [...text.matchAll(/^## (\d+)\. /gm)].map(([, number]) => number!));

describe.each([...documents.keys()].sort())('%s', (path) => {
  const text = documents.get(path)!;

  it('each document links only to files and headings that exist', () => {
    expect(brokenLinks(path, documents, tree)).toEqual([]);
  });

  it('each document names only files and folders that exist', () => {
    expect(missingPaths(text, tree)).toEqual([]);
  });

  it('each document names only scripts of package.json', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
    expect(scriptsIn(text).filter((script) => !(script in scripts))).toEqual([]);
  });

  it('each document refers only to decisions that exist', () => {
    expect(referencesIn(text).filter((number) => !decisions.includes(number))).toEqual([]);
  });
});

describe('decisions', () => {
  it('each decision has its own number, and the index names the next number', async () => {
    expect(decisions.filter((number, at) => decisions.indexOf(number) !== at)).toEqual([]);
    const next = Math.max(...decisions.map(Number)) + 1;
    expect(await read('docs/decisions/README.md')).toContain(`The next one is ${next}.`);
  });

  it('each decision has at most four sentences', () => {
    const long = [...documents]
      .filter(([path]) => path.startsWith('docs/decisions/'))
      .flatMap(([, text]) => text.split(/^## (?=\d)/m).slice(1))
      .filter((decision) => sentencesIn(decision.slice(decision.indexOf('\n'))) > 4);
    expect(long).toEqual([]);
  });
});

function sentencesIn(text: string): number {
  return [...text.replaceAll(/`[^`]*`/g, 'x').matchAll(/[.?!](?=\s|$)/g)].length;
}

describe('source files', () => {
  it('source files name only documents and decisions that exist', () => {
    // This test file contains invented names.
    const others = sources.filter(([path]) => path !== 'test/house/docs.test.ts');
    const wrong = others.flatMap(([path, text]) => {
      const named = [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([name]) => name);
      const numbers = referencesIn(text);
      return [
        ...named.filter((name) => !documents.has(name)).map((name) => `${path}: ${name}`),
        ...numbers.filter((number) => !decisions.includes(number)).map((number) => `${path}: decision ${number}`),
      ];
    });
    expect(wrong).toEqual([]);
  });
});

describe('the checks of this file', () => {
  const small: Tree = { files: new Set(['docs/a.md', 'api/app.ts']), folders: new Set(['docs/', 'api/']) };

  it.each([
    ['a file that is gone', '`api/gone.ts`'],
    ['a folder that is gone', '`models/`'],
    ['a name that no file has', '`gone.ts`'],
    ['a folder of a room that is gone', '`api/gone`'],
    ['a pattern that fits nothing', '`api/*.css`'],
  ])('the check for missing paths finds %s', (_what, text) => {
    expect(missingPaths(text, small)).toHaveLength(1);
  });

  it.each(['`api/app.ts`', '`app.ts`', '`api/`', '`api/*.ts`', '`/health/live`', '`text/plain`', '`README`'])(
    'the check for missing paths accepts %s',
    (text) => {
      expect(missingPaths(text, small)).toEqual([]);
    },
  );

  it.each([
    ['[a](b.md)', 1],
    ['[a](../api/gone.ts)', 1],
    ['[a](#elsewhere)', 1],
    ['# Here it is\n[a](#here-it-is) [b](a.md) [c](../api/app.ts) [d](https://example.com)', 0],
  ])('the check for links finds the broken links of %s', (text, count) => {
    expect(brokenLinks('docs/a.md', new Map([['docs/a.md', text]]), small)).toHaveLength(count);
  });
});

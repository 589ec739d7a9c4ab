/** Caches built programs under their versions. A version is a hash of what a program is built from. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * A hash of the TypeScript files in the given folders, of the file that builds the program, and of the versions of Node
 * and the packages. Paths are relative to the project's root.
 */
export async function fingerprintOf(builder: string, rooms: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  const listed = rooms.map(async (room) =>
    (await readdir(join(root, room), { recursive: true })).map((file) => join(room, file)),
  );
  const files = (await Promise.all(listed)).flat().filter((file) => file.endsWith('.ts'));
  // The files are read synchronously, because awaiting each of three hundred small files takes five times as long.
  for (const file of ['package-lock.json', builder, ...files.sort()])
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 32);
}

/**
 * Returns the path of the file or folder `PREFIX-ID` in `folder`. `write` makes it when it is missing; other processes
 * see it only when it is complete. Of the files and folders with this prefix, the `versions` that were used last are
 * kept.
 */
export async function kept(
  folder: string,
  prefix: string,
  id: string,
  write: (draft: string) => Promise<void>,
  versions: number,
): Promise<string> {
  const own = `${prefix}-${id}`;
  const path = join(folder, own);
  if (!(await touched(path))) {
    await mkdir(folder, { recursive: true });
    const draft = join(folder, `${prefix}.${randomUUID()}.draft`);
    try {
      await write(draft);
      // The rename of a folder fails when another process was faster. That process wrote the same content.
      await rename(draft, path).catch(() => undefined);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  const others = (await readdir(folder)).filter((name) => name.startsWith(`${prefix}-`) && name !== own);
  const aged = await Promise.all(
    others.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  for (const { name } of aged.toSorted((a, b) => b.at - a.at).slice(versions - 1))
    await rm(join(folder, name), { recursive: true, force: true });
  return path;
}

/** Whether the file or folder exists; also marks it as used now. */
const touched = (path: string): Promise<boolean> =>
  utimes(path, new Date(), new Date()).then(
    () => true,
    () => false,
  );

/**
 * The stored logins, one for each server URL, in a file that only its owner may read. A login is used only for its own
 * URL.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { CliError } from './errors.ts';

const login = z.object({
  token: z.string(),
  /** When the login expires, in ISO 8601. */
  expires_at: z.string(),
  email: z.string(),
  /** The organization that `org use` chose. */
  org: z.string().optional(),
});
const file = z.object({ servers: z.record(z.string(), login) });
export type Login = z.infer<typeof login>;

export type Credentials = {
  path: string;
  read(url: string): Promise<Login | undefined>;
  /** Stores a login, or removes it when undefined is given. */
  write(url: string, login: Login | undefined): Promise<void>;
};

/**
 * Opens `$XDG_CONFIG_HOME/support-platform/credentials.json`. A relative XDG_CONFIG_HOME is ignored, as its
 * specification says.
 */
export function openCredentials(env: Record<string, string | undefined>): Credentials {
  const configured = env['XDG_CONFIG_HOME'];
  const base =
    configured !== undefined && isAbsolute(configured) ? configured : join(env['HOME'] ?? homedir(), '.config');
  const path = join(base, 'support-platform', 'credentials.json');

  async function readAll(): Promise<z.infer<typeof file>> {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { servers: {} };
      throw new CliError(`The stored logins cannot be read: ${(error as Error).message}`, {
        code: 'CREDENTIALS',
        cause: error,
      });
    }
    try {
      return file.parse(JSON.parse(text));
    } catch (error) {
      throw new CliError(`${path} is damaged; remove it and log in again.`, { code: 'CREDENTIALS', cause: error });
    }
  }

  return {
    path,
    async read(url) {
      return (await readAll()).servers[url];
    },
    async write(url, login) {
      const { servers } = await readAll();
      const { [url]: _former, ...others } = servers;
      const next = { servers: login === undefined ? others : { ...others, [url]: login } };
      const draft = `${path}.${randomUUID()}`;
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        // The file is replaced by a rename, so that readers never see half a file, and wider permissions of an older
        // file are lost.
        await writeFile(draft, `${JSON.stringify(next, undefined, 2)}\n`, { mode: 0o600 });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined);
        throw new CliError(`The login could not be stored: ${(error as Error).message}`, {
          code: 'CREDENTIALS',
          cause: error,
        });
      }
    },
  };
}

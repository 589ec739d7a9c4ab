/**
 * The demo organization that `npm start` shows: made once through the public API, like anybody's, and kept in
 * DATA_DIR/demo.json (mode 0600, for it holds a password and a key).
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from './cache.ts';

export type Demo = { email: string; password: string; org_id: string; org_name: string; key: string };

const scopes = ['mcp:read', 'mcp:write', 'support:read', 'support:write', 'sessions:mint'];

/** The stored demo organization if this system knows its key, else a new one. Throws EngineError with the API's answer. */
export async function demoOrganization(url: string, dataDir: string): Promise<Demo> {
  const path = join(dataDir, 'demo.json');
  const stored = await readDemo(path);
  if (stored !== undefined && (await isKnown(url, stored))) return stored;
  const demo = await createDemo(url);
  await writeFile(path, `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600 });
  return demo;
}

async function readDemo(path: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Demo;
  } catch {
    return undefined;
  }
}

/** The data may have been removed, or MONGODB_URI may name another database than last time. */
async function isKnown(url: string, demo: Demo): Promise<boolean> {
  const response = await fetch(`${url}/v1/orgs/${demo.org_id}/documents?limit=1`, {
    headers: { authorization: `Bearer ${demo.key}` },
  });
  await response.body?.cancel();
  return response.status === 200;
}

async function createDemo(url: string): Promise<Demo> {
  const email = `demo-${randomBytes(6).toString('hex')}@example.com`;
  const password = randomBytes(18).toString('base64url');
  const registered = await post<{ token: string; organizations: { org_id: string; name: string }[] }>(
    `${url}/v1/auth/register`,
    { email, password, name: 'Demo', company: 'Demo Bank' },
  );
  const organization = registered.organizations[0];
  if (organization === undefined) throw new EngineError('The demo account came without an organization.');
  const path = `${url}/v1/support/developer-keys/orgs/${organization.org_id}/keys`;
  const created = await post<{ token: string }>(path, { name: 'demo', scopes, mode: 'test' }, registered.token);
  return { email, password, org_id: organization.org_id, org_name: organization.name, key: created.token };
}

async function post<T>(url: string, body: unknown, token?: string): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new EngineError(`The demo organization could not be made: ${response.status} ${text}`);
  return (JSON.parse(text) as { data: T }).data;
}

/**
 * The demo organization that `npm start` shows: made once through the public API, like anybody's, and kept in
 * DATA_DIR/demo.json (mode 0600, for it holds a password and a key).
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from './cache.ts';

export type Demo = {
  email: string;
  password: string;
  org_id: string;
  org_name: string;
  key: string;
  /** Of the test mode; what the demonstration page embeds the chat with. */
  publishable_key: string;
};

const scopes = ['mcp:read', 'mcp:write', 'support:read', 'support:write', 'sessions:mint'];

/**
 * The stored demo organization if this system knows its key, else a new one; with `help`, a new one has the help centre of
 * the bank in the demonstration, so that its chat has something to answer from. Throws EngineError with the API's answer.
 */
export async function demoOrganization(url: string, dataDir: string, { help = false } = {}): Promise<Demo> {
  const path = join(dataDir, 'demo.json');
  const stored = await readDemo(path);
  const known = stored !== undefined && (await isKnown(url, stored)) ? stored : undefined;
  if (known?.publishable_key) return { ...known, publishable_key: known.publishable_key };
  const demo = known ? await withPublishableKey(url, known) : await createDemo(url);
  if (help && !known) await uploadHelp(url, demo);
  await writeFile(path, `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600 });
  return demo;
}

/** As an earlier version may have stored it. */
type StoredDemo = Omit<Demo, 'publishable_key'> & { publishable_key?: string };

async function readDemo(path: string): Promise<StoredDemo | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as StoredDemo;
  } catch {
    return undefined;
  }
}

/** The data may have been removed, or MONGODB_URI may name another database than last time. */
async function isKnown(url: string, demo: StoredDemo): Promise<boolean> {
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
  const orgId = organization.org_id;
  const path = `${url}/v1/support/developer-keys/orgs/${orgId}/keys`;
  const created = await post<{ token: string }>(path, { name: 'demo', scopes, mode: 'test' }, registered.token);
  const publishableKey = await testPublishableKey(url, orgId, registered.token);
  return {
    email,
    password,
    org_id: orgId,
    org_name: organization.name,
    key: created.token,
    publishable_key: publishableKey,
  };
}

async function withPublishableKey(url: string, { email, password, ...demo }: StoredDemo): Promise<Demo> {
  const { token } = await post<{ token: string }>(`${url}/v1/auth/login`, { email, password });
  return { email, password, ...demo, publishable_key: await testPublishableKey(url, demo.org_id, token) };
}

async function testPublishableKey(url: string, orgId: string, token: string): Promise<string> {
  const path = `${url}/v1/support/developer-keys/orgs/${orgId}/publishable-keys`;
  return (await call<{ test: { key: string } }>(path, {}, token)).test.key;
}

async function uploadHelp(url: string, { org_id: orgId, key }: Demo): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob([await readFile(new URL('../test/fixtures/help.md', import.meta.url))]), 'help.md');
  await call(`${url}/v1/orgs/${orgId}/documents`, { method: 'POST', body: form }, key);
}

async function post<T>(url: string, body: unknown, token?: string): Promise<T> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return call(url, init, token);
}

/** What the API answers, out of its envelope where it has one. */
async function call<T>(url: string, init: RequestInit, token?: string): Promise<T> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new EngineError(`The demo organization could not be made: ${response.status} ${text}`);
  const body = JSON.parse(text) as T | { data: T };
  return typeof body === 'object' && body !== null && 'data' in body ? body.data : body;
}

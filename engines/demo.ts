/**
 * The demo organization that `npm start` shows. It is created once, through the public API, and stored in
 * DATA_DIR/demo.json (mode 0600, because the file contains a password and a key).
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
  /** The publishable key of test mode; the demo page embeds the chat with it. */
  publishable_key: string;
};

const scopes = ['mcp:read', 'mcp:write', 'support:read', 'support:write', 'sessions:mint'];

/**
 * Returns the stored demo organization if this system knows its key, otherwise a new one. With `help`, a new one gets
 * the documents of a bank's help centre, so that its chat can answer. @throws EngineError with the API's answer
 */
export async function demoOrganization(url: string, dataDir: string, { help = false } = {}): Promise<Demo> {
  const path = join(dataDir, 'demo.json');
  const stored = await readDemo(path);
  if (stored !== undefined && (await isKnown(url, stored))) return stored;
  const demo = await createDemo(url);
  if (help) await uploadHelp(url, demo);
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

/**
 * Whether the API accepts the stored key. It does not when the data was removed or MONGODB_URI names another database.
 */
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

async function testPublishableKey(url: string, orgId: string, token: string): Promise<string> {
  const path = `${url}/v1/support/developer-keys/orgs/${orgId}/publishable-keys`;
  return (await call<{ test: { key: string } }>(path, {}, token)).test.key;
}

/** The files of test/fixtures/ that the demo answers from. */
const helpCentre = ['help.md', 'business.md', 'cards.docx', 'fees.xlsx', 'branches.csv', 'security.txt'];

async function uploadHelp(url: string, { org_id: orgId, key }: Demo): Promise<void> {
  for (const name of helpCentre) {
    const form = new FormData();
    form.append('file', new Blob([await readFile(new URL(`../test/fixtures/${name}`, import.meta.url))]), name);
    await call(`${url}/v1/orgs/${orgId}/documents`, { method: 'POST', body: form }, key);
  }
}

async function post<T>(url: string, body: unknown, token?: string): Promise<T> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return call(url, init, token);
}

/**
 * Calls the API and returns the body, or its field `data` when the body has one. @throws EngineError with the API's
 * answer
 */
async function call<T>(url: string, init: RequestInit, token?: string): Promise<T> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new EngineError(`The demo organization could not be made: ${response.status} ${text}`);
  const body = JSON.parse(text) as T | { data: T };
  return typeof body === 'object' && body !== null && 'data' in body ? body.data : body;
}

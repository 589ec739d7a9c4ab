/**
 * The demo organization that `npm start` shows. It is created once, through the public API, and stored in
 * DATA_DIR/demo.json (mode 0600, because the file contains a password and a key).
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Client } from '../cli/client.ts';
import { CliError, errorLines } from '../cli/errors.ts';
import { loginReply } from '../api/access/contract/auth.ts';
import { newKeyReply, publishableKeys } from '../api/access/contract/keys.ts';
import { documentList, uploadReply } from '../api/knowledge/contract/documents.ts';
import { orSay } from './cache.ts';

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
  if (stored !== undefined && (await isKnown(url, stored).catch(orAnswer('looked up')))) return stored;
  const demo = await newDemo(`${url}/v1`, help).catch(orAnswer('made'));
  await writeFile(path, `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600 });
  return demo;
}

/** For use with `catch`. Throws an EngineError with a sentence that contains the API's whole answer. */
const orAnswer =
  (done: string) =>
  (error: unknown): never =>
    orSay((why) => {
      const answer = error instanceof CliError ? errorLines(error).join('\n') : why;
      return `The demo organization could not be ${done}: ${answer}`;
    })(error);

async function readDemo(path: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Demo;
  } catch {
    return undefined;
  }
}

/**
 * Whether the API accepts the stored key. The API refuses the key when the data was removed or MONGODB_URI names
 * another database. Any other failure is thrown, because a new organization would overwrite the only copy of the
 * password and key of the stored one.
 */
async function isKnown(url: string, { key, org_id: orgId }: Demo): Promise<boolean> {
  const client = createClient({ url: `${url}/v1`, token: key });
  try {
    await client.request('GET', `/orgs/${orgId}/documents`, documentList, { query: { limit: 1 } });
    return true;
  } catch (error) {
    if (error instanceof CliError && error.code !== 'UNEXPECTED_REPLY' && (error.status ?? 500) < 500) return false;
    throw error;
  }
}

async function newDemo(url: string, help: boolean): Promise<Demo> {
  const { owner, organization, member, created } = await createDemo(url, { company: 'Demo Bank', scopes });
  const keys = `/support/developer-keys/orgs/${organization.org_id}/publishable-keys`;
  const { test } = await member.request('GET', keys, publishableKeys);
  if (help) await uploadHelp(createClient({ url, token: created.token }), organization.org_id);
  return {
    ...owner,
    org_id: organization.org_id,
    org_name: organization.name,
    key: created.token,
    publishable_key: test.key,
  };
}

/**
 * Registers an account with an organization, and creates a test key. Returns the account, its client `member`, the
 * organization and the key. `url`: the API's URL, with `/v1`. @throws CliError
 */
export async function createDemo(url: string, { company, scopes }: { company: string; scopes: readonly string[] }) {
  const owner = {
    email: `demo-${randomBytes(6).toString('hex')}@example.com`,
    password: randomBytes(18).toString('base64url'),
  };
  const registered = await createClient({ url }).request('POST', '/auth/register', loginReply, {
    body: { ...owner, name: 'Demo', company },
    once: true,
  });
  const organization = registered.organizations[0];
  if (organization === undefined) throw new CliError('The new account came without an organization.');
  const member = createClient({ url, token: registered.token });
  const path = `/support/developer-keys/orgs/${organization.org_id}/keys`;
  const created = await member.request('POST', path, newKeyReply, { body: { name: 'demo', scopes, mode: 'test' } });
  return { owner, organization, member, created };
}

/** The files of test/fixtures/ that the demo answers from. */
const helpCentre = ['help.md', 'business.md', 'cards.docx', 'fees.xlsx', 'branches.csv', 'security.txt'];

async function uploadHelp(client: Client, orgId: string): Promise<void> {
  for (const name of helpCentre) {
    const data = new FormData();
    data.append('file', new Blob([await readFile(new URL(`../test/fixtures/${name}`, import.meta.url))]), name);
    await client.request('POST', `/orgs/${orgId}/documents`, uploadReply, { form: { data } });
  }
}

/** How tests use the system: real requests, new users, organizations and keys, and waiting for a state. */
import { randomUUID } from 'node:crypto';
import type { Scope } from '../../models/rules/access/keys.ts';
import type { Role } from '../../models/rules/access/roles.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- what a reply holds is what its test finds out
export type Reply = { status: number; headers: Headers; body: any };

type RequestOptions = {
  token?: string | undefined;
  /** The body, sent as JSON. */
  body?: unknown;
  form?: FormData;
  headers?: Record<string, string>;
  /** The body, sent unchanged with the content type of `headers`. */
  raw?: string | Uint8Array<ArrayBuffer>;
};

export type TestUser = { userId: string; email: string; password: string; token: string };
export type TestOrg = { orgId: string; owner: TestUser };
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type TestSession = { token: string; sessionId: string; customerId: string; reply: any };
export const allScopes: Scope[] = ['mcp:read', 'mcp:write', 'support:read', 'support:write', 'sessions:mint'];

export type Api = ReturnType<typeof apiAt>;

/** The API that the whole test run shares, with its workers. */
export function system(): Api {
  return apiAt(process.env['TEST_API_URL']!);
}

/** A client of the API at `url` (without `/v1`). */
export function apiAt(url: string) {
  async function request(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const { token, body, form, raw } = options;
    const response = await fetch(`${url}${path.startsWith('/v1') || path.startsWith('/health') ? '' : '/v1'}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      redirect: 'manual',
      body: raw ?? form ?? (body === undefined ? null : JSON.stringify(body)),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  /** A new user with an address that is unique in the run. */
  async function newUser(email = `${randomUUID()}@example.com`): Promise<TestUser> {
    const password = 'correct horse battery';
    const { status, body } = await request('POST', '/auth/register', {
      body: { email, password, name: 'Test Person' },
    });
    if (status !== 201) throw new Error(`register: ${status} ${JSON.stringify(body)}`);
    return { userId: body.data.user.userId, email, password, token: body.data.token };
  }

  /** A sandbox organization with its owner. */
  async function newOrg(owner?: TestUser): Promise<TestOrg> {
    const user = owner ?? (await newUser());
    const { status, body } = await request('POST', '/orgs', { token: user.token, body: { name: 'Test Organization' } });
    if (status !== 201) throw new Error(`org: ${status} ${JSON.stringify(body)}`);
    return { orgId: body.data.org_id, owner: user };
  }

  /**
   * Adds a user, by default a new one, to an organization. Without a mail server the owner hands over the invitation
   * link. A user with a verified address joins at once.
   */
  async function join(org: TestOrg, role: Role = 'member', user?: TestUser): Promise<TestUser> {
    const person = user ?? (await newUser());
    const body = { email: person.email, role };
    const added = await request('POST', `/orgs/${org.orgId}/members`, { token: org.owner.token, body });
    if (added.status === 201) return person;
    const link = /#invitation=(.+)$/.exec(added.body.data?.link ?? '')?.[1];
    if (link === undefined) throw new Error(`member: ${said(added)}`);
    const joined = await request('POST', '/auth/invitations/accept', { token: person.token, body: { token: link } });
    if (joined.status !== 200) throw new Error(`join: ${said(joined)}`);
    return person;
  }

  /** A secret key, by default with all scopes in test mode. */
  async function newKey(
    org: TestOrg,
    options: { scopes?: Scope[]; mode?: 'test' | 'live' } = {},
  ): Promise<{ token: string; keyId: string }> {
    const { status, body } = await request('POST', `/support/developer-keys/orgs/${org.orgId}/keys`, {
      token: org.owner.token,
      body: { name: 'test key', scopes: options.scopes ?? allScopes, mode: options.mode ?? 'test' },
    });
    if (status !== 201) throw new Error(`key: ${status} ${JSON.stringify(body)}`);
    return { token: body.data.token, keyId: body.data.key.key_id };
  }

  /** A session of a customer, by default a new one in test mode. `key` is the token of a secret key. */
  async function newSession(
    org: TestOrg,
    options: { key?: string; mode?: 'test' | 'live'; body?: Record<string, unknown> } = {},
  ): Promise<TestSession> {
    const key = options.key ?? (await newKey(org, { mode: options.mode ?? 'test' })).token;
    const { status, body } = await request('POST', `/support/sessions/orgs/${org.orgId}/mint`, {
      token: key,
      body: { customer: { email: `${randomUUID()}@customer.example` }, ...options.body },
    });
    if (status !== 200) throw new Error(`mint: ${status} ${JSON.stringify(body)}`);
    return { token: body.token, sessionId: body.session_id, customerId: body.customer_id, reply: body };
  }

  async function goLive(org: TestOrg): Promise<void> {
    const { status, body } = await request('PUT', `/support/config/orgs/${org.orgId}`, {
      token: org.owner.token,
      body: { environment: 'production' },
    });
    if (status !== 200) throw new Error(`go live: ${status} ${JSON.stringify(body)}`);
  }

  /** Uploads a file. Use `indexed` to wait until it is processed. */
  function upload(
    orgId: string,
    token: string,
    file: { name: string; content: string | Uint8Array<ArrayBuffer> },
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ) {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([file.content]), file.name);
    return request('POST', `/orgs/${orgId}/documents`, { token, form, headers });
  }

  /** The document once it is `indexed` or `failed`. */
  async function processed(orgId: string, token: string, docId: string) {
    let last: Reply | undefined;
    return until(
      async () => {
        last = await request('GET', `/orgs/${orgId}/documents/${docId}`, { token });
        const { document } = last.body;
        return ['indexed', 'failed'].includes(document?.status) ? document : undefined;
      },
      () => `document ${docId} to be processed; the last answer was ${said(last)}`,
    );
  }

  return { url, request, newUser, newOrg, join, newKey, newSession, goLive, upload, processed };
}

/** A reply as text for a failure message. */
export const said = (reply: Reply | undefined): string => `${reply?.status} ${JSON.stringify(reply?.body)}`;

/**
 * Polls 40 times a second at first and then less often, so that waiting does not take processor time from the system.
 */
const lookEveryMs = { first: 25, last: 250 };

/**
 * Waits until `look` returns a value. Fails after two minutes. `what` names in the error message what was awaited. It
 * may be a function that reports the last state.
 */
export async function until<T>(look: () => Promise<T | undefined | false>, what: string | (() => string)): Promise<T> {
  const began = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    const waited = performance.now() - began;
    if (waited > 120_000) throw new Error(`Waited in vain for ${typeof what === 'string' ? what : what()}.`);
    const pause = Math.min(Math.max(waited / 10, lookEveryMs.first), lookEveryMs.last);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

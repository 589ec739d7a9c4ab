/** What a command works with: the server's URL, the credential, the organization and the output. */
import { createClient, allPages, type Client } from './client.ts';
import { apiUrl, defaultUrl, identifier } from './arguments.ts';
import type { Credentials, Login } from './credentials.ts';
import { CliError } from './errors.ts';
import type { Output } from './output.ts';
import type { Input } from './prompt.ts';
import { selfReply } from '../api/access/contract/keys.ts';
import { listReply, organization } from '../api/access/contract/orgs.ts';
import type { z } from 'zod';

/** The options of every command. */
export type Globals = { url?: string; org?: string; key?: string; mode?: 'test' | 'live'; json?: boolean };
export type Organization = z.infer<typeof organization>;

export type Session = {
  url: string;
  env: Record<string, string | undefined>;
  mode: Globals['mode'];
  output: Output;
  stdin: Input;
  credentials: Credentials;
  /** A client without a credential, for signing in. */
  anonymous: Client;
  /** A client with the API key if one is given, otherwise with the login. */
  client(): Promise<Client>;
  /** A client with the login, for requests that an API key may not make. */
  member(): Promise<Client>;
  /** The stored login, unless it has expired. */
  login(): Promise<Login | undefined>;
  /**
   * The organization's id: the first one that is given by `--org`, `SUPPORT_ORG`, the API key, the command `org use`,
   * or a login with only one organization. `as: 'member'` is for commands that ignore an API key.
   */
  orgId(as?: 'member'): Promise<string>;
  /**
   * For a search that found nothing: a sentence that names the searched mode (test or live), and how to search the
   * other mode. May send a request. Undefined for a list of both modes, which a login gets when no mode is given.
   */
  modeSeen(what: 'answer' | 'list'): Promise<string | undefined>;
};

/**
 * Makes a commander action from a command's function. `run` gets a session, then the command's arguments, then its
 * options.
 */
export type Act = <A extends unknown[]>(
  run: (session: Session, ...args: A) => Promise<void>,
) => (...args: [...A, ...unknown[]]) => Promise<void>;

export async function listOrganizations(client: Client): Promise<Organization[]> {
  return allPages(async (query) => {
    const { organizations, cursor } = await client.request('GET', '/orgs', listReply, { query });
    return { entries: organizations, cursor };
  });
}

export function createSession(options: {
  globals: Globals;
  env: Record<string, string | undefined>;
  credentials: Credentials;
  output: Output;
  stdin: Input;
  now: () => Date;
}): Session {
  const { globals, env, credentials, output } = options;
  const url = apiUrl(globals.url ?? (env['SUPPORT_URL'] || defaultUrl));
  const key = globals.key ?? (env['SUPPORT_API_KEY'] || undefined);
  const org = globals.org ?? (env['SUPPORT_ORG'] || undefined);
  const connect = (token?: string): Client =>
    createClient({ url, token, onWarning: (message) => output.note(`Note: ${message}`) });

  async function login(): Promise<Login | undefined> {
    const stored = await credentials.read(url);
    return stored !== undefined && new Date(stored.expires_at) > options.now() ? stored : undefined;
  }

  async function member(): Promise<Client> {
    const current = await login();
    if (current !== undefined) return connect(current.token);
    const why = key === undefined ? `You are not logged in at ${url}` : 'An API key cannot do this; it needs a login';
    throw new CliError(`${why}: use the login command.`, { code: 'NOT_LOGGED_IN' });
  }

  async function onlyOrganization(): Promise<string> {
    const organizations = await listOrganizations(await member());
    const [only, another] = organizations;
    if (only !== undefined && another === undefined) return only.org_id;
    const message =
      only === undefined
        ? 'You have no organization yet: create one with org create.'
        : `You have ${organizations.length} organizations: choose one with org use, or name it with --org.`;
    throw new CliError(message, { code: 'NO_ORGANIZATION' });
  }

  /**
   * The mode to use when the command names none: the mode of the developer key, or without a key `live` for an
   * organization in production, otherwise `test`.
   */
  async function ownMode(): Promise<'test' | 'live'> {
    if (key !== undefined) {
      const { mode } = await connect(key).request('GET', '/support/developer-keys/self', selfReply);
      return mode;
    }
    const id = org === undefined ? ((await login())?.org ?? (await onlyOrganization())) : identifier(org);
    const { environment } = await (await member()).request('GET', `/orgs/${id}`, organization);
    return environment === 'production' ? 'live' : 'test';
  }

  return {
    url,
    env,
    mode: globals.mode,
    output,
    stdin: options.stdin,
    credentials,
    anonymous: connect(),
    async client() {
      return key === undefined ? member() : connect(key);
    },
    member,
    login,
    async orgId(as) {
      if (org !== undefined) return identifier(org);
      if (key !== undefined && as !== 'member') {
        const self = await connect(key).request('GET', '/support/developer-keys/self', selfReply);
        return self.organization.org_id;
      }
      return (await login())?.org ?? onlyOrganization();
    },
    async modeSeen(what) {
      if (what === 'list' && key === undefined && globals.mode === undefined) return undefined;
      const mode = globals.mode ?? (await ownMode());
      const other = mode === 'live' ? 'test' : 'live';
      const how = key === undefined ? `add --mode ${other}` : `use a key of ${other} mode`;
      return `This is ${mode} mode, which holds nothing of ${other} mode; to look there, ${how}.`;
    },
  };
}

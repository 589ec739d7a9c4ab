/**
 * Sign-ins in progress at the authorization server of a tool server. Each serves once, within ten minutes. Only a hash of the
 * `state` is stored, and what the browser must not learn is sealed.
 */
import type { ToolServer } from './server.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, number, optional, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { SecretBox } from '../base/secretbox.ts';
import type { Mode } from '../rules/access/keys.ts';

/** What the API and a worker hand to each other. JSON. */
export type GrantContent = {
  /**
   * The server as it is about to be stored. That happens when the sign-in has come so far: settings with which nobody can
   * sign in replace none that work.
   */
  server: Pick<ToolServer, '_id' | 'connection' | 'endpoint_url' | 'auth_type' | 'oauth' | 'scopes_wanted'>;
  /** The parameter by which the browser that comes back is known. */
  state: string;
  /** Who asked for it, for the audit. */
  actor: string;
  mode: Mode;
  /** What the library needs to finish: PKCE verifier, client, what was discovered. */
  kept?: object;
  /** Where a person has to agree. */
  address?: string;
  /** What the browser came back with. */
  code?: string;
  iss?: string;
  /** `oauth_state` of the server, when it is signed in without a person. */
  signed_in?: string;
};

export const grantSeconds = 600;

const ToolGrantModel = defineModel(
  'ToolGrant',
  'tool_grants',
  {
    /** SHA-256 of the `state` parameter, hexadecimal. */
    _id: string,
    org_id: string,
    /** The connection that it is for. */
    connection: number,
    /** SHA-256 of the cookie of the member's browser that began it; a key begins it outside of any browser. */
    browser: optional(string),
    /** Sealed JSON: `GrantContent`. */
    sealed: string,
    /** Whether the browser has come back. */
    returned: boolean,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type ToolGrant = RecordOf<typeof ToolGrantModel>;

const grantPlace = (id: string) => ({ field: 'tool_grants.sealed', record: id });
const sealedContent = (id: string, content: GrantContent, { seal }: SecretBox): string =>
  seal(JSON.stringify(content), grantPlace(id));

export const toolGrantSeals = sealedRecords(ToolGrantModel, ({ _id, sealed }) => [
  { path: 'sealed', sealed, place: grantPlace(_id) },
]);

export const openGrant = ({ _id, sealed }: ToolGrant, { open }: SecretBox): GrantContent =>
  JSON.parse(open(sealed, grantPlace(_id))) as GrantContent;

export async function keepGrant(
  { content, ...grant }: Omit<ToolGrant, 'sealed'> & { content: GrantContent },
  secrets: SecretBox,
): Promise<void> {
  await collectionOf(ToolGrantModel).insertOne({ ...grant, sealed: sealedContent(grant._id, content, secrets) });
}

/**
 * The sign-in that the browser comes back from, once; null when it is unknown, used, too old, or another browser's.
 * `browser`: the hash of its cookie.
 */
export async function returnGrant(id: string, browser: string | undefined, now: Date): Promise<ToolGrant | null> {
  const unbound = { browser: { $exists: false } };
  const own = browser === undefined ? unbound : { $or: [unbound, { browser }] };
  return collectionOf(ToolGrantModel).findOneAndUpdate(
    { _id: id, returned: false, expires_at: { $gt: now }, ...own },
    { $set: { returned: true } },
  );
}

/** Replaces what is known of a sign-in; nothing when it is over. */
export async function sealGrant(id: string, content: GrantContent, secrets: SecretBox): Promise<void> {
  const sealed = sealedContent(id, content, secrets);
  await collectionOf(ToolGrantModel).updateOne({ _id: id }, { $set: { sealed } });
}

/** Takes a sign-in that came back, so that its code is used once. */
export async function takeGrant(orgId: string, id: string): Promise<ToolGrant | null> {
  return collectionOf(ToolGrantModel).findOneAndDelete({ _id: id, org_id: orgId, returned: true });
}

/** A sign-in in progress. */
export async function readGrant(orgId: string, id: string): Promise<ToolGrant | null> {
  return collectionOf(ToolGrantModel).findOne({ _id: id, org_id: orgId });
}

export async function dropGrant(orgId: string, id: string): Promise<void> {
  await collectionOf(ToolGrantModel).deleteOne({ _id: id, org_id: orgId });
}

/**
 * Sign-ins in progress at the authorization server of a tool server (OAuth). Each sign-in can be finished once, within
 * ten minutes. Only a hash of the `state` is stored, and what the browser must not see is encrypted.
 */
import type { ToolServer } from './server.ts';
import { collectionOf, defineModel, finderOf, removerOf, type RecordOf } from '../base/define.ts';
import { boolean, date, number, optional, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { SecretBox } from '../base/secretbox.ts';
import type { Mode } from '../rules/access/keys.ts';

/** The data that the API and the worker pass to each other, as JSON. */
export type GrantContent = {
  /**
   * The server to store once the sign-in has succeeded, so that settings with which the sign-in fails never replace
   * working settings.
   */
  server: Pick<ToolServer, '_id' | 'connection' | 'endpoint_url' | 'auth_type' | 'oauth' | 'scopes_wanted'>;
  /** The OAuth `state` parameter, by which the returning browser is recognised. */
  state: string;
  /** Who started the sign-in, for the audit. */
  actor: string;
  mode: Mode;
  /** The OAuth library's state: PKCE verifier, client, discovered metadata. */
  kept?: object;
  /** The URL at which a person must agree. */
  address?: string;
  /** The parameters of the returning browser. */
  code?: string;
  iss?: string;
  /** The server's `oauth_state`, when no person had to agree. */
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
    /** The connection of the server that the sign-in is for. */
    connection: number,
    /**
     * SHA-256 (hexadecimal) of the cookie of the browser that started the sign-in; absent when an API key started it.
     */
    browser: optional(string),
    /** The content of the sign-in: encrypted JSON of `GrantContent`. */
    sealed: string,
    /** Whether the browser has returned. */
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
 * Marks the sign-in of a returning browser as returned, and returns it; this succeeds once. Null when the sign-in is
 * unknown, used, expired, or another browser's. `browser`: the hash of the browser's cookie.
 */
export async function returnGrant(id: string, browser: string | undefined, now: Date): Promise<ToolGrant | null> {
  const unbound = { browser: { $exists: false } };
  const own = browser === undefined ? unbound : { $or: [unbound, { browser }] };
  return collectionOf(ToolGrantModel).findOneAndUpdate(
    { _id: id, returned: false, expires_at: { $gt: now }, ...own },
    { $set: { returned: true } },
  );
}

/** Replaces the data of a sign-in; does nothing when the sign-in no longer exists. */
export async function sealGrant(id: string, content: GrantContent, secrets: SecretBox): Promise<void> {
  const sealed = sealedContent(id, content, secrets);
  await collectionOf(ToolGrantModel).updateOne({ _id: id }, { $set: { sealed } });
}

/** Removes and returns a sign-in whose browser has returned, so that its code is used once. */
export async function takeGrant(orgId: string, id: string): Promise<ToolGrant | null> {
  return collectionOf(ToolGrantModel).findOneAndDelete({ _id: id, org_id: orgId, returned: true });
}

export const readGrant = finderOf(ToolGrantModel);

export const dropGrant = removerOf(ToolGrantModel);

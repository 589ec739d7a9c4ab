/** Sign-ins in progress at the authorization server of a tool server (OAuth). */
import type { ToolServer } from './server.ts';
import type { Mode } from '../rules/access/keys.ts';

/**
 * The data of a sign-in. The API and the worker pass them to each other as an errand (models/base/errand.ts). They are
 * stored while a person consents.
 */
export type GrantContent = {
  /**
   * The server to store once the sign-in has succeeded. Settings with which a sign-in fails must not replace working
   * settings.
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
  /** The server's `oauth_state`, when no person had to agree. */
  signed_in?: string;
};

/** A sign-in whose browser has returned, with the parameters of the browser. */
export type ReturnedGrant = GrantContent & { code: string; iss?: string };

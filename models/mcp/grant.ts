/** Sign-ins in progress at the authorization server of a tool server (OAuth). */
import type { ToolServer } from './server.ts';
import type { Mode } from '../rules/access/keys.ts';

/**
 * A sign-in as the API and the worker hand it to each other (models/base/errand.ts), and as it is kept while a person
 * consents.
 */
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
  /** The server's `oauth_state`, when no person had to agree. */
  signed_in?: string;
};

/** A sign-in whose browser has returned, with the parameters of the browser. */
export type ReturnedGrant = GrantContent & { code: string; iss?: string };

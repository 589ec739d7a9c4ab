/** OAuth metadata of this system, both as a client of tool servers and as a tool server with its own clients. */

export const callbackPath = '/support/mcp/oauth/callback';
/**
 * The path of the client metadata, outside `/v1`, because authorization servers expect the plain document without the
 * API's envelope.
 */
export const clientMetadataPath = '/.well-known/tool-client.json';

export type ToolClient = {
  grantType: 'client_credentials' | 'authorization_code';
  redirectUrl: string;
  scopes?: readonly string[] | undefined;
};

/** The OAuth client metadata that is registered with authorization servers or published at the client id. */
export function clientMetadata({ grantType, redirectUrl, scopes = [] }: ToolClient) {
  const byPerson = grantType === 'authorization_code';
  return {
    client_name: 'Support platform',
    redirect_uris: byPerson ? [redirectUrl] : [],
    grant_types: byPerson ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
    response_types: byPerson ? ['code'] : [],
    token_endpoint_auth_method: byPerson ? 'none' : 'client_secret_basic',
    application_type: 'web',
    ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
  };
}

/** The client id metadata document, which authorization servers fetch from the client id's URL. */
export const clientDocument = (publicUrl: string) => ({
  client_id: `${publicUrl}${clientMetadataPath}`,
  ...clientMetadata({ grantType: 'authorization_code', redirectUrl: `${publicUrl}/v1${callbackPath}` }),
});

/** The endpoint that serves the knowledge base as a tool server. */
export const knowledgePath = '/v1/mcp';
/** The path at which clients of the knowledge server find its authorization metadata (RFC 9728). */
export const resourceMetadataPath = `/.well-known/oauth-protected-resource${knowledgePath}`;
/**
 * The authorization metadata of the knowledge server. It names no authorization server, because the knowledge server
 * only accepts secret keys.
 */
export const resourceDocument = (publicUrl: string) => ({
  resource: `${publicUrl}${knowledgePath}`,
  resource_name: 'Knowledge base',
  bearer_methods_supported: ['header'],
  scopes_supported: ['support:read'],
  resource_documentation: `${publicUrl}/docs`,
});
export const resourceChallenge = (publicUrl: string): string =>
  `Bearer resource_metadata="${publicUrl}${resourceMetadataPath}"`;

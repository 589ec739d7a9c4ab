/** What this system is to authorization servers of tool servers, and to clients of its own tools. */

export const callbackPath = '/support/mcp/oauth/callback';
/** Outside `/v1`: authorization servers read the document as it is, without an envelope. */
export const clientMetadataPath = '/.well-known/tool-client.json';

export type ToolClient = {
  grantType: 'client_credentials' | 'authorization_code';
  redirectUrl: string;
  scopes?: readonly string[] | undefined;
};

/** What it says of itself where it registers, or where its metadata is read. */
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

/** The client id metadata document: what authorization servers read at the client's id. */
export const clientDocument = (publicUrl: string) => ({
  client_id: `${publicUrl}${clientMetadataPath}`,
  ...clientMetadata({ grantType: 'authorization_code', redirectUrl: `${publicUrl}/v1${callbackPath}` }),
});

/** The knowledge as a tool server. */
export const knowledgePath = '/v1/mcp';
/** Where its clients read how they are let in (RFC 9728). */
export const resourceMetadataPath = `/.well-known/oauth-protected-resource${knowledgePath}`;
/** It names no authorization server, because secret keys alone are taken. */
export const resourceDocument = (publicUrl: string) => ({
  resource: `${publicUrl}${knowledgePath}`,
  resource_name: 'Knowledge base',
  bearer_methods_supported: ['header'],
  scopes_supported: ['support:read'],
  resource_documentation: `${publicUrl}/docs`,
});
export const resourceChallenge = (publicUrl: string): string =>
  `Bearer resource_metadata="${publicUrl}${resourceMetadataPath}"`;

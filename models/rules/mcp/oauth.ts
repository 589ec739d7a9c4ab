/** What this system is to authorization servers of tool servers. */

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

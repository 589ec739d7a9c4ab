/** Why a tool server gave no usable answer. The sentences are for members and repeat nothing that the server sent. */
export const failureReasons = {
  unreachable: 'The tool server could not be reached, or broke the connection off.',
  blocked: 'The address of the tool server must be https and public, or be named in EGRESS_ALLOW.',
  redirect: 'The tool server redirects to another address; set that address instead.',
  unauthorized: 'The tool server, or its authorization server, does not accept the credentials; connect it again.',
  scope: 'The tool server asks for more than was agreed to; connect it again, and agree to it.',
  no_authority:
    'No metadata of an authorization server name oauth.token_url, so it is not known where a person agrees; leave it out, or set a client_secret.',
  timeout: 'The tool server did not answer in time.',
  too_large: 'The answer of the tool server is larger than allowed.',
  protocol: 'The tool server did not answer as the Model Context Protocol asks.',
  input_required: 'The tool asks back, which is not possible here.',
  cancelled: 'The call was cancelled.',
} as const;
export type FailureReason = keyof typeof failureReasons;

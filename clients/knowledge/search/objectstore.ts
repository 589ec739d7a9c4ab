/** An object store with the protocol of S3, which holds the search index. */
import { defined } from '../../../models/rules/base/defined.ts';

/** `endpoint`: the URL of a store that is not Amazon's; undefined for Amazon S3. */
export type ObjectStore = {
  endpoint: string | undefined;
  region: string;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  sessionToken: string | undefined;
};

/** The options with which LanceDB reaches the store. */
export function storageOptions({ endpoint, region, ...keys }: ObjectStore): Record<string, string> {
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return defined({
    aws_region: region,
    aws_endpoint: endpoint,
    allow_http: endpoint?.startsWith('http:') ? 'true' : undefined,
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
    aws_session_token: sessionToken,
  });
}

/**
 * Fetches objects from Amazon S3 or a compatible store, signed with Signature Version 4. No other call is needed, so
 * aws4fetch (no dependencies) signs the request and the outbound HTTP client sends it, with its checks and limits.
 * Amazon's SDK would add about a hundred packages and its own HTTP client.
 */
import { AwsV4Signer } from 'aws4fetch';
import type { Http } from '../http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type S3Settings = {
  /** The URL of a store that is not Amazon's; its buckets are then part of the path. Undefined for Amazon. */
  endpoint: string | undefined;
  region: string;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  sessionToken: string | undefined;
};

/** `missing`: the object does not exist, so a retry changes nothing. */
export type Fetched = { kind: 'object'; body: Buffer } | { kind: 'missing' | 'too_large' };

export type ObjectStore = {
  /** @throws HttpError, or an Error, when the store refuses or gives no proper reply */
  fetch(bucket: string, key: string, options: { maxBytes: number; signal?: AbortSignal }): Promise<Fetched>;
};

/** Amazon also answers 403 for an object that does not exist when the access key may not list the bucket. */
const forbidden = ' The S3 key may not read it: allow s3:GetObject and s3:ListBucket.';

export function createObjectStore(http: Pick<Http, 'request'>, settings: S3Settings): ObjectStore {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = settings;
  const addressOf = (bucket: string, key: string): string => {
    const path = key.split('/').map(encodeURIComponent).join('/');
    if (endpoint !== undefined) return `${endpoint.replace(/\/$/, '')}/${encodeURIComponent(bucket)}/${path}`;
    const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    // Amazon's wildcard certificate covers only one label, so a bucket with a dot goes into the path.
    return bucket.includes('.') ? `https://${host}/${bucket}/${path}` : `https://${bucket}.${host}/${path}`;
  };
  return {
    async fetch(bucket, key, { maxBytes, signal }) {
      const url = addressOf(bucket, key);
      const headers = await signed(url);
      try {
        const { status, body } = await http.request(url, { headers, maxBytes, signal });
        if (status === 200) return { kind: 'object', body };
        if (status === 404) return { kind: 'missing' };
        throw new Error(
          `The object store answered ${status} for the bucket ${bucket}.${status === 403 ? forbidden : ''}`,
        );
      } catch (error) {
        if (error instanceof HttpError && error.reason === 'too_large') return { kind: 'too_large' };
        throw error;
      }
    },
  };

  async function signed(url: string): Promise<Record<string, string>> {
    if (accessKeyId === undefined || secretAccessKey === undefined) return {};
    const signer = new AwsV4Signer({
      url,
      method: 'GET',
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      ...defined({ sessionToken }),
    });
    const headers = new Headers((await signer.sign()).headers);
    // The HTTP client sets this header from the URL.
    headers.delete('host');
    return Object.fromEntries(headers);
  }
}

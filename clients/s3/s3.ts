/**
 * Fetches objects from Amazon S3 or a store that speaks its protocol, signed with Signature Version 4. Of S3 this system needs
 * one call, so it is signed by aws4fetch (no dependencies) and goes through the outbound HTTP client with its checks and limits;
 * Amazon's own SDK would bring some hundred packages and a client of its own.
 */
import { AwsV4Signer } from 'aws4fetch';
import type { Http } from '../http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';

export type S3Settings = {
  /** Of another store than Amazon's: buckets are then a part of the path. */
  endpoint: string | undefined;
  region: string;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  sessionToken: string | undefined;
};

/** `missing`: there is no such object, or it may not be read; asking again changes nothing. */
export type Fetched = { kind: 'object'; body: Buffer } | { kind: 'missing'; status: number } | { kind: 'too_large' };

export type ObjectStore = {
  /** @throws HttpError, or an Error, when the store does not answer as it should now. */
  fetch(bucket: string, key: string, options: { maxBytes: number; signal?: AbortSignal }): Promise<Fetched>;
};

export function createObjectStore(http: Pick<Http, 'request'>, settings: S3Settings): ObjectStore {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = settings;
  const addressOf = (bucket: string, key: string): string => {
    const path = key.split('/').map(encodeURIComponent).join('/');
    if (endpoint !== undefined) return `${endpoint.replace(/\/$/, '')}/${encodeURIComponent(bucket)}/${path}`;
    const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    // The certificate covers one name before the host.
    return bucket.includes('.') ? `https://${host}/${bucket}/${path}` : `https://${bucket}.${host}/${path}`;
  };
  return {
    async fetch(bucket, key, { maxBytes, signal }) {
      const url = addressOf(bucket, key);
      const headers = await signed(url);
      try {
        const { status, body } = await http.request(url, { headers, maxBytes, signal });
        if (status === 200) return { kind: 'object', body };
        if (status === 403 || status === 404) return { kind: 'missing', status };
        throw new Error(`The object store answered ${status}.`);
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
      ...(sessionToken === undefined ? {} : { sessionToken }),
    });
    const headers = new Headers((await signer.sign()).headers);
    // The client writes it, from the address.
    headers.delete('host');
    return Object.fromEntries(headers);
  }
}

/**
 * Verifies the signature of Amazon SNS messages with the certificate that the message names. Certificates are fetched
 * only from Amazon's hosts or the operator's, and are cached.
 */
import { createVerify, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Http } from '../../clients/http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { isCertAddress, signedText, type SnsHosts, type SnsMessage } from './snsmessage.ts';

export type SnsVerifier = {
  /** Whether the signature is valid. @throws HttpError when the certificate cannot be fetched at present. */
  isSigned(message: SnsMessage, now: Date): Promise<boolean>;
};

/** The maximum size of a certificate. Real certificates have about 2 kB. */
const maxCertBytes = 16 * 1024;
const certTimeoutMs = 5_000;
const keptMs = 24 * 3_600_000;
/** A response that is no certificate is cached for this long, so that an attacker cannot trigger requests at will. */
const refusedMs = 60_000;
const maxKept = 100;

const algorithms = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' } as const;

export function createSnsVerifier({ http, hosts }: { http: Pick<Http, 'request'>; hosts: SnsHosts }): SnsVerifier {
  const certificates = new LRUCache<string, Promise<X509Certificate | null>>({ max: maxKept, ttl: keptMs });

  async function fetchCertificate(url: string): Promise<X509Certificate | null> {
    const limits = { maxBytes: maxCertBytes, headersTimeoutMs: certTimeoutMs, totalTimeoutMs: certTimeoutMs };
    const { status, body } = await http.request(url, limits).catch((error: unknown) => {
      if (error instanceof HttpError && !error.temporary) return { status: 0, body: Buffer.alloc(0) };
      throw error;
    });
    if (status >= 500) throw new HttpError('connection', { url });
    if (status !== 200) return null;
    try {
      const certificate = new X509Certificate(body);
      return certificate.publicKey.asymmetricKeyType === 'rsa' ? certificate : null;
    } catch {
      return null;
    }
  }

  function certificateAt(url: string): Promise<X509Certificate | null> {
    const known = certificates.get(url);
    if (known) return known;
    const fetching = fetchCertificate(url);
    certificates.set(url, fetching);
    fetching.then(
      (certificate) => certificate ?? certificates.set(url, fetching, { ttl: refusedMs }),
      () => certificates.delete(url),
    );
    return fetching;
  }

  return {
    async isSigned(message, now) {
      if (!isCertAddress(message.SigningCertURL, hosts)) return false;
      const certificate = await certificateAt(message.SigningCertURL);
      if (!certificate || now < certificate.validFromDate || now > certificate.validToDate) return false;
      try {
        return createVerify(algorithms[message.SignatureVersion])
          .update(signedText(message), 'utf8')
          .verify(certificate.publicKey, message.Signature, 'base64');
      } catch {
        return false;
      }
    },
  };
}

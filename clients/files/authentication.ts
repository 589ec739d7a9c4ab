/**
 * Finds the DKIM signature that confirms a mail's author. It uses the DKIM results in the first Authentication-Results
 * header (RFC 8601), which the receiving service writes. That header's other results do not count: they are about the
 * envelope sender and the HELO name, which the sender of the mail chooses. The sender may also add headers of the same
 * name; they stand below the first one and are ignored.
 */
import { domainToASCII } from 'node:url';
import parseHeader from 'mailauth/lib/parse-dkim-headers.js';
import { getDomain } from 'tldts';

export type Header = { key: string; value: string };

/** The start of the Authentication-Results header of Amazon SES, which SES puts above all headers of the mail. */
const foundBySes = /^\s*amazonses\.com\s*;/i;
/** A mail with more signatures is not trusted; real mails have one to four. */
const maxSignatures = 20;
const maxLength = 8_000;

type Signature = { domain: string; identity: string };

/**
 * The domain of a valid signature that is aligned with the author's domain in the sense of DMARC: both belong to one
 * organization. Empty when there is none, or when the results do not match the mail's signatures exactly.
 */
export function signerOf(headers: readonly Header[], authorDomain: string): string {
  const findings = headers.find(({ key }) => key === 'authentication-results')?.value ?? '';
  if (!foundBySes.test(findings) || findings.length > maxLength) return '';
  const carried = headers.filter(({ key }) => key === 'dkim-signature').map(({ value }) => signatureIn(value));
  if (carried.length > maxSignatures) return '';
  const { dkim } = parseHeader(`Authentication-Results: ${findings}`).parsed;
  const held: string[] = [];
  for (const { value, header } of dkim ?? []) {
    if (value === 'none') continue;
    const at = carried.findIndex((one) => one !== undefined && isAbout(one, header));
    // A result for a signature that the mail does not have was forged by the sender.
    if (at === -1) return '';
    const [signature] = carried.splice(at, 1);
    if (value === 'pass') held.push(signature!.domain);
  }
  return held.find((domain) => areAligned(domain, authorDomain)) ?? '';
}

/**
 * Parses a DKIM-Signature header. Undefined when the header is malformed: of two `d` tags, for example, the receiving
 * service may have checked the one that this parser does not return.
 */
function signatureIn(value: string): Signature | undefined {
  if (value.length > maxLength) return undefined;
  const { tags, syntaxErrors } = parseHeader(`DKIM-Signature: ${value}`);
  const tag = (name: string): string | undefined => tags?.find((one) => one.name === name)?.value;
  const domain = ascii(tag('d') ?? '');
  if (domain === '' || syntaxErrors === undefined || syntaxErrors.length > 0) return undefined;
  return { domain, identity: domainIn(tag('i') ?? domain) };
}

/** Whether a result is about this signature. A result names a signature by its domain, its identity, or both. */
function isAbout({ domain, identity }: Signature, named: Readonly<Record<string, string>> = {}): boolean {
  const { d, i } = named;
  if (d === undefined && i === undefined) return false;
  return (d === undefined || ascii(d) === domain) && (i === undefined || domainIn(i) === identity);
}

const ascii = (domain: string): string => domainToASCII(domain.trim());
const domainIn = (identity: string): string => ascii(identity.slice(identity.lastIndexOf('@') + 1));

/**
 * Whether two domains belong to one organization according to the public suffix list, including its private section.
 */
function areAligned(one: string, other: string): boolean {
  const [a, b] = [ascii(one), ascii(other)];
  if (a === '' || b === '') return false;
  const organization = (domain: string) => getDomain(domain, { allowPrivateDomains: true });
  return a === b || (organization(a) !== null && organization(a) === organization(b));
}

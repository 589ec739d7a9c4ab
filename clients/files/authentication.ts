/**
 * Whose signature speaks for the author of a mail, as the receiving service found it (RFC 8601). What a mail says about itself
 * counts for nothing here: the sender chooses the envelope and the name in HELO, which stand in the same header, and may send
 * headers of the same name.
 */
import { domainToASCII } from 'node:url';
import parseHeader from 'mailauth/lib/parse-dkim-headers.js';
import { getDomain } from 'tldts';

export type Header = { key: string; value: string };

/** How Amazon SES begins its findings, which it writes above all that came with the mail. */
const foundBySes = /^\s*amazonses\.com\s*;/i;
/** So many signatures of a mail are looked at; a mail has one to four. */
const maxSignatures = 20;
const maxLength = 8_000;

type Signature = { domain: string; identity: string };

/**
 * The domain whose signature holds and that is aligned with the author's, as DMARC has it: both belong to one organization. Empty
 * when there is none, or when what was found is not about exactly the signatures that the mail carries.
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
    // A finding about a signature that is not there was put into the header by the sender.
    if (at === -1) return '';
    const [signature] = carried.splice(at, 1);
    if (value === 'pass') held.push(signature!.domain);
  }
  return held.find((domain) => areAligned(domain, authorDomain)) ?? '';
}

/** Undefined for one that breaks the grammar, such as by two values of `d`: who verified it may have read the other. */
function signatureIn(value: string): Signature | undefined {
  if (value.length > maxLength) return undefined;
  const { tags, syntaxErrors } = parseHeader(`DKIM-Signature: ${value}`);
  const tag = (name: string): string | undefined => tags?.find((one) => one.name === name)?.value;
  const domain = ascii(tag('d') ?? '');
  if (domain === '' || syntaxErrors === undefined || syntaxErrors.length > 0) return undefined;
  return { domain, identity: domainIn(tag('i') ?? domain) };
}

/** A finding names a signature by its domain, its identity, or both. */
function isAbout({ domain, identity }: Signature, named: Readonly<Record<string, string>> = {}): boolean {
  const { d, i } = named;
  if (d === undefined && i === undefined) return false;
  return (d === undefined || ascii(d) === domain) && (i === undefined || domainIn(i) === identity);
}

const ascii = (domain: string): string => domainToASCII(domain.trim());
const domainIn = (identity: string): string => ascii(identity.slice(identity.lastIndexOf('@') + 1));

/** Whether two domains belong to one organization, by the list of public suffixes, those that companies let to others included. */
function areAligned(one: string, other: string): boolean {
  const [a, b] = [ascii(one), ascii(other)];
  if (a === '' || b === '') return false;
  const organization = (domain: string) => getDomain(domain, { allowPrivateDomains: true });
  return a === b || (organization(a) !== null && organization(a) === organization(b));
}

/**
 * The address that a customer's answer to a mail goes to: `reply+<token>@<domain>`, or with another separator. The token is written in lower-case base32,
 * because programs on the way change the case of addresses, and some cut off what is longer than 64 octets before the `@`.
 * Pure; models/events/replytoken.ts signs tokens.
 */
import { domainOf } from '../access/mailbox.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const localPart = 'reply';
/** What may stand before the token: some mail systems and forms refuse a `+`. None of them occurs in a token. */
export const replySeparators = ['+', '-', '_', '.', '='] as const;
export type ReplySeparator = (typeof replySeparators)[number];
/** With `reply+` before it, the local part keeps within its 64 octets. */
export const maxTokenLength = 58;

/** RFC 4648's base32, in lower case and without padding. */
export function toBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(held >> (bits - 5)) & 31];
  }
  return bits > 0 ? text + alphabet[(held << (5 - bits)) & 31]! : text;
}

/** The bytes of a text in base32 of any case; undefined when it is none, or when bits that must be 0 are not. */
export function fromBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const character of text.toLowerCase()) {
    const value = alphabet.indexOf(character);
    if (value === -1) return undefined;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = (held >> bits) & 255;
  }
  // Otherwise several texts would be the same token.
  return (held & ((1 << bits) - 1)) === 0 && bits < 5 ? bytes : undefined;
}

export const replyAddress = (token: string, domain: string, separator: ReplySeparator = '+'): string =>
  `${localPart}${separator}${token}@${domain}`;

/**
 * The tokens in these recipients of an envelope, in their order; `domain` is where reply addresses live. Each separator is
 * understood, since addresses that were sent stay good when the setting changes.
 */
export function tokensIn(recipients: readonly string[], domain: string): string[] {
  return recipients.flatMap((recipient) => {
    const at = recipient.lastIndexOf('@');
    const local = recipient.slice(0, Math.max(at, 0)).toLowerCase();
    if (domainOf(recipient) !== domain.toLowerCase() || !isReply(local)) return [];
    const token = local.slice(localPart.length + 1);
    return token !== '' && token.length <= maxTokenLength ? [token] : [];
  });
}

const isReply = (local: string): boolean =>
  local.startsWith(localPart) && replySeparators.some((separator) => local[localPart.length] === separator);

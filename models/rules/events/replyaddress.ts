/**
 * Reply addresses in mails to customers: `reply+<token>@<domain>`. The token is lower-case base32, because mail
 * programs change the case of addresses. It is short, because some programs truncate the part before the `@` after 64
 * octets. Pure; models/events/replytoken.ts signs the tokens.
 */
import { domainOf } from '../access/mailbox.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const localPart = 'reply';
/**
 * Characters that may separate `reply` from the token: some mail systems refuse a `+` and replace it by another
 * character. None of them occurs in a token.
 */
export const replySeparators = ['+', '-', '_', '.', '='] as const;
/** The maximum length of a token: with `reply+` before it, the local part has at most 64 octets. */
export const maxTokenLength = 58;

/** Base32 of RFC 4648, in lower case and without padding. */
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

/** Decodes base32 in any case; undefined for other text, and when padding bits are not 0. */
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
  // Padding bits other than 0 are refused; otherwise several texts would decode to the same token.
  return (held & ((1 << bits) - 1)) === 0 && bits < 5 ? bytes : undefined;
}

export const replyAddress = (token: string, domain: string): string => `${localPart}+${token}@${domain}`;

/**
 * The tokens in the envelope's recipients, in order; `domain` is the domain of reply addresses. Every separator is
 * accepted.
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

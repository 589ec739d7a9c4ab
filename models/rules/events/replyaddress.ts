/**
 * Reply addresses in mails to customers: `reply+<token>@<domain>`. The token is hexadecimal, because mail programs
 * change the case of addresses. It is short, because some programs truncate the part before the `@` after 64 octets.
 * Pure; models/events/replytoken.ts signs the tokens.
 */
import { domainOf } from '../access/mailbox.ts';

const localPart = 'reply';
/**
 * Characters that may separate `reply` from the token: some mail systems refuse a `+` and replace it by another
 * character. None of them occurs in a token.
 */
export const replySeparators = ['+', '-', '_', '.', '='] as const;
/** The maximum length of a token: with `reply+` before it, the local part has at most 64 octets. */
export const maxTokenLength = 58;

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

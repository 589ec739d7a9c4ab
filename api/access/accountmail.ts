/**
 * Checks and limits for mails about accounts: whether a mail server is configured, and how many mails go to one
 * mailbox.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { consume, createRate } from '../http/limits.ts';
import { perConfig } from '../http/perconfig.ts';
import type { AccountLetter } from '../../models/rules/access/accountmail.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const rate = perConfig((config) => createRate(config, 'account_mails'));

/** @throws Problem NO_MAIL_SERVER when no mail server is configured that could send mails about accounts. */
export function checkMails({ config }: Pick<Context, 'config'>): void {
  if (config.mail.server === undefined) throw new Problem('NO_MAIL_SERVER');
}

/**
 * Counts a mail to this mailbox, regardless of who requests it, so that nobody can flood a mailbox.
 * @throws Problem RATE_LIMITED
 */
export async function countMail({ config }: Pick<Context, 'config'>, kind: AccountLetter['kind'], email: string) {
  const mailbox = createHash('sha256').update(`${kind}\0${email}`).digest('hex');
  await consume(rate(config), config, 'account_mails', mailbox);
}

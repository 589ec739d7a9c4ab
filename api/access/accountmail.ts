/** Mails about accounts, as far as they are asked for here: whether one can be sent, and how many go to one mailbox. */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { consume, createRate } from '../http/limits.ts';
import { perConfig } from '../http/perconfig.ts';
import type { AccountLetter } from '../../models/rules/access/accountmail.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const rate = perConfig((config) => createRate(config, 'account_mails'));

/** @throws Problem NO_MAIL_SERVER when nothing could send a mail about an account. */
export function checkMails({ config }: Pick<Context, 'config'>): void {
  if (config.mail.server === undefined) throw new Problem('NO_MAIL_SERVER');
}

/**
 * Counts a mail to this mailbox, whoever asks for it, so that nobody's mailbox can be filled.
 * @throws Problem RATE_LIMITED
 */
export async function countMail({ config }: Pick<Context, 'config'>, kind: AccountLetter['kind'], email: string) {
  const mailbox = createHash('sha256').update(`${kind}\0${email}`).digest('hex');
  await consume(rate(config), config, 'account_mails', mailbox);
}

/**
 * Mails about accounts, as routes ask for them: a delivery is stored, and a worker writes and sends it. Nothing here looks
 * whether there is such an account, so neither the answer nor its time tells.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { startSaved } from '../durable.ts';
import { consume, createRate } from '../http/limits.ts';
import { perConfig } from '../http/perconfig.ts';
import { newId } from '../../models/base/ids.ts';
import { createDelivery, DeliveryModel } from '../../models/events/delivery.ts';
import { findIntegration } from '../../models/integrations/integration.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import {
  accountEvent,
  accountsOwner,
  type AccountLetter,
  type NotificationPayload,
} from '../../models/rules/events/notification.ts';

const rate = perConfig((config) => createRate(config, 'account_mails'));

/** Whether something could send a mail for this organization: the deployment's server, or one of its own. */
export async function canMail({ config }: Pick<Context, 'config'>, orgId: string): Promise<boolean> {
  return config.mail.server !== undefined || (await findIntegration(orgId, 'email'))?.sealed !== undefined;
}

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

/** Has a mail sent. `orgId`: the organization that it is sent for; without one it is shown to nobody. */
export async function mailAccount(ctx: Context, letter: AccountLetter, orgId: string = accountsOwner): Promise<void> {
  const { delivery, intents } = await createDelivery(
    {
      org_id: orgId,
      // Accounts have no mode: somebody is invited, or signs in again, also before the organization is live.
      mode: 'live',
      kind: 'notification',
      event_id: newId('event'),
      event_type: accountEvent(letter.kind),
      lane: 'mail',
      destination: letter.email,
      subject: {},
      about: [],
      payload: { account: letter } satisfies NotificationPayload,
    },
    ctx.clock(),
  );
  await startSaved(ctx, DeliveryModel, delivery, intents);
}

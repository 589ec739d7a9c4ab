/**
 * Queues mails about accounts; api/access/ calls these functions through `ctx.hooks`. A worker writes and sends the
 * mails. No function looks up whether the recipient has an account, so neither the reply nor its timing reveals that.
 */
import mongoose, { type ClientSession } from 'mongoose';
import type { Context } from '../context.ts';
import { startSaved } from '../../workflows/start.ts';
import { newId } from '../../models/base/ids.ts';
import { createDelivery, DeliveryModel, type NewDelivery } from '../../models/events/delivery.ts';
import { admitOutsideMail, hasObjected, type OutsideMail } from '../../models/events/outsidemail.ts';
import { findUser } from '../../models/access/user.ts';
import { hasMailServer } from '../../models/integrations/integration.ts';
import type { AccountLetter } from '../../models/rules/access/accountmail.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { accountEvent, accountsOwner, type NotificationPayload } from '../../models/rules/events/notification.ts';
import { isSendersLimit, outsideRefusals, outsideUnprovenPerDay } from '../../models/rules/events/outsidemail.ts';

/** Whether mails of this organization can be sent: through the deployment's mail server or the organization's own. */
async function canMail({ config }: Pick<Context, 'config'>, orgId: string): Promise<boolean> {
  return config.mail.server !== undefined || (await hasMailServer(orgId));
}

/** Whether the address has opted out of mails to people outside. */
export const hasOptedOut = ({ secrets }: Pick<Context, 'secrets'>, orgId: string, email: string): Promise<boolean> =>
  hasObjected(secrets, orgId, email);

/** Whether the organization can mail an invitation to this address, and the address has not opted out. */
export async function canInviteByMail(
  ctx: Pick<Context, 'config' | 'secrets'>,
  orgId: string,
  email: string,
): Promise<boolean> {
  return (await canMail(ctx, orgId)) && !(await hasOptedOut(ctx, orgId, email));
}

/**
 * Counts a mail to a person outside the organization, against the limits of the organization and of the account that
 * sends it.
 * @throws Problem RATE_LIMITED
 */
export async function countOutside(
  { config, secrets }: Pick<Context, 'config' | 'secrets'>,
  mail: OutsideMail,
  now: Date,
): Promise<void> {
  const organization = config.rates.outside_mails.points;
  const proven = (await findUser(mail.account))?.email_verified ?? false;
  const account = proven ? organization : Math.min(organization, outsideUnprovenPerDay);
  const refusal = await admitOutsideMail(mail, { keys: secrets, perDay: { organization, account } }, now);
  if (!refusal) return;
  const seconds = Math.ceil((86_400_000 - (now.getTime() % 86_400_000)) / 1000);
  throw new Problem('RATE_LIMITED', {
    message: outsideRefusals[refusal],
    headers: { 'Retry-After': String(seconds) },
    ...(isSendersLimit(refusal) ? { quota: 'outside_mails' } : {}),
  });
}

/**
 * Queues a mail about an account. `orgId`: the organization that sees the delivery; without one, no organization sees
 * it.
 */
export async function mailAccount(ctx: Context, letter: AccountLetter, orgId?: string): Promise<void> {
  const { delivery, intents } = await createDelivery(deliveryOf(letter, orgId), ctx.clock());
  await startSaved(ctx, DeliveryModel, delivery, intents);
}

/**
 * Makes a change of an account and queues the notice about it. Both are one transaction, because a crash in between
 * would lose the notice, which warns the owner of a stranger's change. `change` returns the notice; undefined for none.
 */
export async function changeAndTell(
  ctx: Context,
  change: (session: ClientSession) => Promise<AccountLetter | undefined>,
): Promise<void> {
  const stored: Awaited<ReturnType<typeof createDelivery>>[] = [];
  await mongoose.connection.transaction(async (session) => {
    // MongoDB may run the transaction again, so the result is reset.
    stored.length = 0;
    const letter = await change(session);
    if (letter) stored.push(await createDelivery(deliveryOf(letter), ctx.clock(), session));
  });
  for (const { delivery, intents } of stored) await startSaved(ctx, DeliveryModel, delivery, intents);
}

const deliveryOf = (letter: AccountLetter, orgId: string = accountsOwner): NewDelivery => ({
  org_id: orgId,
  // Accounts have no mode. Their mails are always `live`, because people also sign in and are invited before the
  // organization is live.
  mode: 'live',
  kind: 'notification',
  event_id: newId('event'),
  event_type: accountEvent(letter.kind),
  lane: 'mail',
  destination: letter.email,
  subject: {},
  about: [],
  payload: { account: letter } satisfies NotificationPayload,
});

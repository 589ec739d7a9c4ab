/**
 * Handles mails to people outside the organization: adds a text that says who sends the mail and why, and limits how
 * many of these mails are sent. Mails about tasks to members are limited, too. The rules are in
 * models/rules/events/outsidemail.ts.
 */
import type { MailSettings, MailVia, RouteOf } from './settings.ts';
import { count } from '../../clients/base/meter.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { findUser } from '../../models/access/user.ts';
import {
  admitOutsideMail,
  admitToAddress,
  objectionToken,
  type AddressedMail,
  type OutsideMail,
} from '../../models/events/outsidemail.ts';
import { linkOf } from '../../models/rules/access/account.ts';
import { DeliveryRefused, type OutgoingRequest } from '../../models/rules/events/delivery.ts';
import type { OutgoingMail } from '../../models/rules/events/mailout.ts';
import { hiddenLink } from '../../models/rules/events/notification.ts';
import {
  isSendersLimit,
  framed,
  objectionHeaders,
  outsideRefusals,
  outsideUnprovenPerDay,
  reachOf,
  type OutsideReason,
} from '../../models/rules/events/outsidemail.ts';
import type { Language } from '../../models/rules/language/language.ts';

type Deps = { mail: MailSettings; secrets: SecretBox; publicUrl: string; clock: () => Date };
/** `via`: whose server sends the mail. `language`: the language of the mail; English by default. */
type About = { orgId: string; organization: string; why: OutsideReason; via: MailVia; language?: Language };

/**
 * Adds to a mail the text about its sender and reason, and the unsubscribe link. `shown`: the version that members see;
 * its link is masked, so that they cannot unsubscribe for the recipient.
 */
export function inFrame(
  mail: OutgoingMail,
  { orgId, organization, why, via, language = 'en' }: About,
  { secrets, publicUrl }: Deps,
  { shown }: { shown: boolean },
): OutgoingMail {
  const reach = reachOf(via);
  const token = shown ? hiddenLink : objectionToken(secrets, orgId, mail.to.address, reach);
  const link = linkOf(publicUrl, 'mail_stop', token);
  return {
    ...mail,
    text: framed(mail.text, { organization, host: new URL(publicUrl).host, why, link, reach, language }),
    headers: { ...mail.headers, ...objectionHeaders(`${publicUrl}/v1/mail/objections/${token}`) },
  };
}

/** Whether the organization's own server sends. A server without a login does not count, as it may be anybody's. */
export const isOwnServer = ({ own, server }: RouteOf): boolean => !own && server.user !== undefined;

/**
 * Counts the mail against the daily quotas. The organization's own server is exempt from the quotas.
 * @throws DeliveryRefused when the mail must not be sent
 */
export async function admit(
  outside: OutsideMail,
  route: RouteOf,
  request: OutgoingRequest,
  { mail, secrets, clock }: Deps,
): Promise<void> {
  const own = isOwnServer(route);
  const { outsidePerDay: organization } = mail;
  const proven = !own && ((await findUser(outside.account))?.email_verified ?? false);
  const account = proven ? organization : Math.min(organization, outsideUnprovenPerDay);
  const perDay = own ? undefined : { organization, account };
  const refusal = await admitOutsideMail(outside, { keys: secrets, perDay }, clock());
  if (refusal && isSendersLimit(refusal)) count('quota_refusals_total', { quota: 'outside_mails' });
  if (refusal) throw new DeliveryRefused(outsideRefusals[refusal], { request, permanent: true });
}

/**
 * Counts a mail against the limits of its address only: a reply to an address that a visitor gave, or a mail about a
 * task to a member. No account of the organization chose the address of such a reply.
 * @throws DeliveryRefused when the mail must not be sent
 */
export async function admitAddressed(
  counter: 'reply' | 'member',
  mail: AddressedMail,
  request: OutgoingRequest,
  { secrets, clock }: Pick<Deps, 'secrets' | 'clock'>,
): Promise<void> {
  const refusal = await admitToAddress(counter, mail, secrets, clock());
  // Nobody can raise the limit of a member's mails, and each mail beyond it would be one more notice to the team.
  const quiet = counter === 'member';
  if (refusal) throw new DeliveryRefused(outsideRefusals[refusal], { request, permanent: true, quiet });
}

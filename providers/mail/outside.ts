/**
 * Handles mails to people outside the organization: adds a text that says who sends the mail and why, and limits how
 * many of these mails are sent. The rules are in models/rules/events/outsidemail.ts.
 */
import type { MailSettings, RouteOf } from './settings.ts';
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
  type OutsideReason,
} from '../../models/rules/events/outsidemail.ts';
import type { Language } from '../../models/rules/language/language.ts';

type Deps = { mail: MailSettings; secrets: SecretBox; publicUrl: string; clock: () => Date };
/** `language`: the language of the mail; English by default. */
type About = { orgId: string; organization: string; why: OutsideReason; language?: Language };

/**
 * Adds to a mail the text about its sender and reason, and the unsubscribe link. `shown`: the version that members see;
 * its link is masked, so that they cannot unsubscribe for the recipient.
 */
export function inFrame(
  mail: OutgoingMail,
  { orgId, organization, why, language = 'en' }: About,
  { secrets, publicUrl }: Deps,
  { shown }: { shown: boolean },
): OutgoingMail {
  const token = shown ? hiddenLink : objectionToken(secrets, orgId, mail.to.address);
  const link = linkOf(publicUrl, 'mail_stop', token);
  return {
    ...mail,
    text: framed(mail.text, { organization, host: new URL(publicUrl).host, why, link, language }),
    headers: { ...mail.headers, ...objectionHeaders(`${publicUrl}/v1/mail/objections/${token}`) },
  };
}

/**
 * Counts the mail against the daily quotas. An organization's server is exempt from the quotas only if it requires a
 * login, because a server without a login may belong to anybody.
 * @throws DeliveryRefused when the mail must not be sent
 */
export async function admit(
  outside: OutsideMail,
  route: RouteOf,
  request: OutgoingRequest,
  { mail, secrets, clock }: Deps,
): Promise<void> {
  const own = !route.own && route.server.user !== undefined;
  const { outsidePerDay: organization } = mail;
  const proven = !own && ((await findUser(outside.account))?.email_verified ?? false);
  const account = proven ? organization : Math.min(organization, outsideUnprovenPerDay);
  const perDay = own ? undefined : { organization, account };
  const refusal = await admitOutsideMail(outside, { keys: secrets, perDay }, clock());
  if (refusal && isSendersLimit(refusal)) count('quota_refusals_total', { quota: 'outside_mails' });
  if (refusal) throw new DeliveryRefused(outsideRefusals[refusal], { request, permanent: true });
}

/**
 * Counts a reply to an address that a visitor gave. Only the limits of the address apply, because no account of the
 * organization chose the address.
 * @throws DeliveryRefused when the mail must not be sent
 */
export async function admitReply(
  reply: AddressedMail,
  request: OutgoingRequest,
  { secrets, clock }: Pick<Deps, 'secrets' | 'clock'>,
): Promise<void> {
  const refusal = await admitToAddress('reply', reply, secrets, clock());
  if (refusal) throw new DeliveryRefused(outsideRefusals[refusal], { request, permanent: true });
}

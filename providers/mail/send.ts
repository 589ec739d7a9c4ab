/**
 * Sends mails by the organization's mail server or the deployment's, with the sender address of that server. A letter's
 * text is written at the time of sending. A reply to a customer (`email`) is written earlier, by
 * activities/events/mailreply.ts. If a visitor gave the address without proof, the reply also gets the unsubscribe link
 * and the text about its sender that outside.ts adds. All attempts share the mail's `Message-ID`, so that mail programs
 * show a mail once even when it arrives twice.
 */
import type { DeliverySender, Letter, SenderDeps } from '../base/sender.ts';
import { MailRefused } from './client.ts';
import { admit, admitAddressed, inFrame, isOwnServer } from './outside.ts';
import { routeOf, senderOf, type MailVia } from './settings.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import { mailUse } from '../../models/events/outsidemail.ts';
import { DeliveryRefused, type OutgoingRequest, type Sent } from '../../models/rules/events/delivery.ts';
import { domainOf, nameOf } from '../../models/rules/access/mailbox.ts';
import { addressText, automaticHeaders, type OutgoingMail } from '../../models/rules/events/mailout.ts';
import type { Language } from '../../models/rules/language/language.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * `outside`: set when a visitor gave the address without proof, so that the address may belong to somebody else. It
 * contains the organization's name and the mail's language.
 */
export type MailPayload = {
  mail: OutgoingMail;
  via: MailVia;
  outside?: { organization: string; language?: Language };
};

/** A mail with its headers, as members see it. */
function requestOfMail(mail: OutgoingMail): OutgoingRequest {
  const { from, to, reply_to, subject, text, date, message_id, in_reply_to, references, headers } = mail;
  const head = {
    From: addressText(from),
    To: addressText(to),
    ...(reply_to ? { 'Reply-To': addressText(reply_to) } : {}),
    Subject: subject,
    Date: new Date(date).toUTCString(),
    'Message-ID': message_id,
    ...defined({ 'In-Reply-To': in_reply_to }),
    ...(references.length === 0 ? {} : { References: references.join(' ') }),
    ...headers,
  };
  return { method: 'MAIL', url: `mailto:${to.address}`, headers: head, body: text };
}

type Way = {
  route: Awaited<ReturnType<typeof routeOf>>;
  /** The request that is stored with the attempt. */
  request: OutgoingRequest;
  signal: AbortSignal;
};

/** Sends a mail through its server. @throws DeliveryRefused */
async function sendByMail(mail: OutgoingMail, { route, request, signal }: Way, deps: SenderDeps): Promise<Sent> {
  if (!route) throw new DeliveryRefused('No mail server is configured.', { request, permanent: true });
  try {
    const { status, reply } = await deps.mailer.send(route, mail, signal);
    return { request, status_code: status, response_head: reply, result: { id: mail.message_id } };
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    const { message, what, status, timedOut } = error;
    if (what === 'credentials') await route.refused?.(message);
    throw new DeliveryRefused(message, {
      request,
      status_code: status,
      permanent: what === 'message',
      unauthorized: what === 'credentials',
      timedOut,
      cause: error,
    });
  }
}

/** `id`: the first part of the `Message-ID`. `about`: the id of the record that the letter is about. */
type Stamp = { orgId: string; id: string; about: string; at: Date };
type WrittenLetter = Awaited<ReturnType<typeof writeLetter>>;

/**
 * Writes the mail of a letter. `request`: the mail as members see it, without the receiver's link. `via`: the server
 * that the mail is written for.
 */
export async function writeLetter(letter: Letter, { orgId, id, about, at }: Stamp, deps: SenderDeps) {
  const { from, via } = await senderOf(deps, orgId);
  const { to, words, outside, fromName = '' } = letter;
  const domain = domainOf(from.address);
  const made = (shown: boolean): OutgoingMail => {
    const mail = {
      from: from.name === '' ? { ...from, name: nameOf(fromName) } : from,
      to,
      ...words({ from, via, shown }),
      date: at.toISOString(),
      message_id: `<${id}@${domain}>`,
      references: [],
      headers: automaticHeaders(about, false),
    };
    if (!outside) return mail;
    return inFrame(mail, { orgId, ...outside, via, organization: outside.organization || domain }, deps, { shown });
  };
  return { orgId, letter, mail: made(false), request: requestOfMail(made(true)), via };
}

/** Sends a letter's mail. @throws DeliveryRefused */
export async function sendLetter(written: WrittenLetter, deps: SenderDeps, signal: AbortSignal): Promise<Sent> {
  const { orgId, letter, mail, request, via } = written;
  const { to, outside, member, prepare } = letter;
  // The mail must not go through another server that was configured after the mail was written.
  const route = await routeOf(deps, orgId, via);
  if (outside && route) await admit({ ...outside, orgId, address: to.address }, route, request, deps);
  // The organization's own server is exempt from the limit of mails to members.
  if (member && route && !isOwnServer(route))
    await admitAddressed('member', { ...member, orgId, address: to.address }, request, deps);
  if (prepare && !(await prepare()))
    throw new DeliveryRefused('The account has changed meanwhile.', { request, permanent: true });
  return sendByMail(mail, { route, request, signal }, deps);
}

const payloadOf = (delivery: Delivery): MailPayload => delivery.payload as MailPayload;

/**
 * The mail of a delivery. `shown`: the version that members see. An unsubscribe link is added here and not stored, so
 * that no member can read it.
 */
function mailOf(delivery: Delivery, deps: SenderDeps, options: { shown: boolean }): OutgoingMail {
  const { mail, via, outside } = payloadOf(delivery);
  return outside ? inFrame(mail, { orgId: delivery.org_id, ...outside, via, why: 'reply' }, deps, options) : mail;
}

export const email: DeliverySender = {
  async unsendable(delivery, deps: SenderDeps) {
    return (await routeOf(deps, delivery.org_id, payloadOf(delivery).via)) === undefined;
  },

  preview: (delivery, deps) => Promise.resolve(requestOfMail(mailOf(delivery, deps, { shown: true }))),

  async send(delivery, deps, signal) {
    const { org_id: orgId, event_id } = delivery;
    const { via, outside } = payloadOf(delivery);
    const mail = mailOf(delivery, deps, { shown: false });
    const request = requestOfMail(mailOf(delivery, deps, { shown: true }));
    const route = await routeOf(deps, orgId, via);
    if (outside && route)
      await admitAddressed(
        'reply',
        { orgId, address: mail.to.address, use: mailUse(event_id, delivery) },
        request,
        deps,
      );
    return sendByMail(mail, { route, request, signal }, deps);
  },
};

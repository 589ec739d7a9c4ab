/**
 * Mails a customer, in one mail, the messages that were written while the customer was away. The mail is stored with
 * its mail thread until its delivery is stored. So each message is in exactly one mail, even after retries.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Starter } from '../../providers/base/handled.ts';
import type { MailPayload } from '../../providers/mail/send.ts';
import { senderOf, type MailDeps } from '../../providers/mail/settings.ts';
import { findOrganization } from '../../models/access/organization.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { findConversation, type Conversation } from '../../models/chat/conversation.ts';
import { findCustomer, replyAddressOf, type Customer } from '../../models/chat/customer.ts';
import {
  lastWrittenInChat,
  listMessages,
  listUnmailed,
  settleMailed,
  type Message,
} from '../../models/chat/message.ts';
import { lastSeen } from '../../models/live/presence.ts';
import { createDelivery, DeliveryModel } from '../../models/events/delivery.ts';
import { hasObjected } from '../../models/events/outsidemail.ts';
import {
  findThreadOf,
  provideThread,
  settleOutgoing,
  takeOutgoing,
  type MailThread,
  type Outgoing,
} from '../../models/events/mailthread.ts';
import { tokenOf } from '../../models/events/replytoken.ts';
import { domainOf, nameOf, readAddress, type Mailbox } from '../../models/rules/access/mailbox.ts';
import {
  automaticHeaders,
  automaticWaitMs,
  assistantName,
  mailEventType,
  mailSubject,
  mailText,
  referencesOf,
  type Told,
} from '../../models/rules/events/mailout.ts';
import { replyAddress } from '../../models/rules/events/replyaddress.ts';
import { languageOfFirst } from '../../models/rules/language/language.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type MailReplyDeps = MailDeps &
  Starter & {
    secrets: SecretBox;
    clock: () => Date;
    log: Logger;
  };
type Ref = { orgId: string; convId: string };
export type MailReplyActivities = ReturnType<typeof createMailReplyActivities>;

/** The number of recent messages from which the mail's language is detected. */
const readForLanguage = 10;

export function createMailReplyActivities(deps: MailReplyDeps) {
  const { clock, start, log } = deps;

  /**
   * The messages that the customer has neither seen nor been mailed. Messages that the customer saw in the chat are
   * marked as mailed.
   */
  async function untold(conversation: Conversation): Promise<Message[]> {
    const { _id: convId, org_id: orgId } = conversation;
    const messages = await listUnmailed(orgId, convId);
    if (messages.length === 0) return [];
    const [seen, wrote] = await Promise.all([
      // Presence is recorded per conversation: a customer who has another conversation open has not seen these
      // messages.
      lastSeen({ orgId, personId: convId }, clock()),
      lastWrittenInChat(orgId, convId),
    ]);
    const there = Math.max(seen?.getTime() ?? 0, wrote?.getTime() ?? 0);
    const told = messages.filter(({ at }) => at.getTime() <= there);
    if (told.length > 0)
      await settleMailed(
        orgId,
        told.map(({ _id }) => _id),
      );
    return messages.filter(({ at }) => at.getTime() > there);
  }

  async function write(
    conversation: Conversation,
    customer: Readonly<Customer>,
    to: string,
    thread: MailThread,
    messages: readonly Message[],
  ): Promise<Outgoing> {
    const { _id: convId, org_id: orgId } = conversation;
    const [org, history, { from, via }] = await Promise.all([
      findOrganization(orgId),
      listMessages(orgId, convId, { limit: readForLanguage }),
      senderOf(deps, orgId),
    ]);
    const said = history.filter(({ role }) => role === 'customer').toReversed();
    const language = languageOfFirst([...said, ...messages].map(({ body }) => body));
    const name = nameOf(org?.name ?? '') || from.name || domainOf(from.address);
    const { replyDomain } = deps.mail;
    const reply: Mailbox | undefined =
      replyDomain === undefined
        ? undefined
        : { name, address: replyAddress(tokenOf(deps.secrets, thread._id), replyDomain) };
    const told = messages.map(({ role, sender_name, body, sources = [] }): Told => ({
      sender: role === 'ai' ? assistantName(name, language) : (sender_name ?? name),
      body,
      sources: sources.map((source) => ({
        name: source.title ?? source.name,
        ...defined({ url: source.url }),
      })),
    }));
    const automatic = messages.every(({ role }) => role === 'ai');
    const event_id = messages.at(-1)!._id;
    const id = `<${event_id}.${randomBytes(8).toString('hex')}@${replyDomain ?? domainOf(from.address)}>`;
    const answered = thread.answered_id ?? thread.mail_ids.at(-1);
    return {
      event_id,
      message_ids: messages.map(({ _id }) => _id),
      automatic,
      via,
      // An unverified address may belong to somebody else, who must be able to object to mails.
      ...(customer.email === undefined ? { outside: { organization: name, language } } : {}),
      mail: {
        from: from.name === '' ? { ...from, name } : from,
        to: { name: nameOf(customer.name ?? ''), address: to },
        ...(reply ? { reply_to: reply } : {}),
        subject: mailSubject(thread.subject, name, language),
        text: mailText(told, name, language, reply !== undefined),
        date: clock().toISOString(),
        message_id: id,
        ...defined({ in_reply_to: answered }),
        references: referencesOf(thread.mail_ids),
        headers: automaticHeaders(convId, automatic),
      },
    };
  }

  /** Stores the delivery of a mail. Idempotent, because a retry may repeat every step. */
  async function handOver(conversation: Conversation, thread: MailThread, outgoing: Outgoing): Promise<void> {
    const { _id: convId, org_id: orgId, mode, customer_id } = conversation;
    const lane = `email:${convId}`;
    const { event_id, message_ids, mail, via, outside } = outgoing;
    const { delivery, intents } = await createDelivery(
      {
        org_id: orgId,
        mode,
        kind: 'email',
        event_id,
        event_type: mailEventType,
        lane,
        line: lane,
        destination: mail.to.address,
        subject: { conv_id: convId, customer_id },
        about: [customer_id],
        payload: { mail, via, ...defined({ outside }) } satisfies MailPayload,
      },
      clock(),
    );
    await settleMailed(orgId, message_ids);
    await settleOutgoing(thread, outgoing, clock());
    await start(DeliveryModel, delivery, intents);
    log.info({ org_id: orgId, conv_id: convId, delivery_id: delivery._id, messages: message_ids.length }, 'mail made');
  }

  /**
   * The customer's mail address. Undefined when there is none, or when its owner wants no mail from this organization.
   */
  async function addressOf(customer: Readonly<Customer>): Promise<string | undefined> {
    const address = readAddress(replyAddressOf(customer));
    // An unverified address may belong to somebody else, who may have objected to mails.
    const objected =
      address !== undefined &&
      customer.email === undefined &&
      (await hasObjected(deps.secrets, customer.org_id, address));
    return objected ? undefined : address;
  }

  async function mail({ orgId, convId }: Ref): Promise<{ waitMs?: number }> {
    const conversation = await findConversation(orgId, convId);
    if (!conversation) return {};
    const customer = await findCustomer(orgId, conversation.customer_id);
    const to = !customer || customer.erasing_at ? undefined : await addressOf(customer);
    if (!customer || to === undefined) {
      await settleMailed(
        orgId,
        (await listUnmailed(orgId, convId)).map(({ _id }) => _id),
      );
      return {};
    }
    const { mode, customer_id } = conversation;
    for (;;) {
      // A process that died may have stored a mail with the thread, but not the mail's delivery.
      const begun = await findThreadOf(orgId, convId);
      if (begun?.outgoing) {
        await handOver(conversation, begun, begun.outgoing);
        continue;
      }
      const messages = await untold(conversation);
      if (messages.length === 0) return {};
      const thread = await provideThread({ org_id: orgId, mode, conv_id: convId, customer_id }, clock());
      const waitMs = messages.every(({ role }) => role === 'ai') ? automaticWaitMs(thread.automatic_at, clock()) : 0;
      if (waitMs > 0) return { waitMs };
      const outgoing = await write(conversation, customer, to, thread, messages);
      // If `takeOutgoing` fails, a concurrent run has mailed some of these messages, so the loop starts again.
      if (await takeOutgoing(thread, begun?.mails ?? 0, outgoing)) await handOver(conversation, thread, outgoing);
    }
  }

  return {
    /**
     * Mails the messages that the customer has not seen. `waitMs`: the wait that the limit of automatic mails requires.
     */
    mailUnsent: mail,
  };
}

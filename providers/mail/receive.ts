/**
 * Handles mails from customers. A customer's mail becomes a message of the conversation, as if written in the chat.
 * Automatic mails, mails from strangers and forged mails change nothing and are listed with a reason.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Handled, Starter } from '../base/handled.ts';
import { senderOf, type MailDeps } from './settings.ts';
import { count } from '../../clients/base/meter.ts';
import type { ReadMail } from '../../clients/files/mailformat.ts';
import { maxMailBytes } from '../../clients/files/limits.ts';
import type { Files } from '../../clients/files/files.ts';
import type { Http } from '../../clients/http/http.ts';
import type { ObjectStore } from '../../clients/s3/s3.ts';
import { contentOf, readSes, type SesReceived } from './ses.ts';
import { takeTestConversation } from '../../models/chat/allowance.ts';
import { findConversation, type Conversation } from '../../models/chat/conversation.ts';
import { provideConversation } from '../../models/chat/current.ts';
import { findCustomer, replyAddressOf, type Customer } from '../../models/chat/customer.ts';
import { findClientMessage, lastProductType, MessageModel, type MailOrigin } from '../../models/chat/message.ts';
import { startStored, storeMessage } from '../../models/chat/saying.ts';
import { countMissed, uncountMessage } from '../../models/chat/unread.ts';
import { noteAbout, type Inbound } from '../../models/events/inbound.ts';
import {
  findThread,
  noteIncoming,
  outlivesDays,
  provideThread,
  type MailThread,
} from '../../models/events/mailthread.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { maxBodyLength } from '../../models/rules/chat/conversation.ts';
import { readAddress } from '../../models/rules/access/mailbox.ts';
import { automaticReason, distrust, mailReasons, type MailReason } from '../../models/rules/events/mailin.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';

export type EmailDeps = Starter &
  MailDeps & {
    files: Files;
    http: Http;
    objects: ObjectStore;
    /** The S3 buckets from which mails may be fetched. */
    inboundBuckets: readonly string[];
    testConversationsPerMonth: number;
    clock: () => Date;
  };

/** The object that Amazon SES writes into a bucket during setup. */
const setupKey = 'AMAZON_SES_SETUP_NOTIFICATION';
const dayMs = 86_400_000;

/** Thrown for a mail that changes nothing; contains the reason. */
class Ignored extends Error {
  readonly reason: MailReason;
  constructor(reason: MailReason, detail?: string) {
    super(detail === undefined ? mailReasons[reason] : `${mailReasons[reason]} ${detail}`);
    this.reason = reason;
  }
}

export async function handleEmail(inbound: Inbound, deps: EmailDeps, signal: AbortSignal): Promise<Handled> {
  const stored = JSON.parse(inbound.body) as { subscribe_url?: string; thread_id?: string; notification?: string };
  if (stored.subscribe_url !== undefined) return confirm(stored.subscribe_url, deps, signal);
  try {
    const convId = await takeIn(inbound, stored.thread_id ?? '', stored.notification ?? '', deps, signal);
    return { outcome: `The mail is a message of its customer in ${convId}.` };
  } catch (error) {
    if (error instanceof Ignored) return { ignored: error.message };
    throw error;
  }
}

/** Confirms a subscription: SNS sends messages to an address only after its confirmation URL was called. */
async function confirm(url: string, { http }: EmailDeps, signal: AbortSignal): Promise<Handled> {
  const { status } = await http.request(url, { signal, maxBytes: 64 * 1024, totalTimeoutMs: 15_000, cut: true });
  if (status === 200) return { outcome: 'The subscription to the topic was confirmed.' };
  throw new Error(`Amazon answered ${status} to the confirmation of the subscription.`);
}

/** Stores the mail as a message of its customer. Returns the conversation's id. @throws Ignored */
async function takeIn(
  inbound: Inbound,
  threadId: string,
  notification: string,
  deps: EmailDeps,
  signal: AbortSignal,
): Promise<string> {
  const ses = readSes(notification);
  if (!ses) throw new Ignored('not_a_mail');
  const thread = await findThread(threadId);
  if (!thread || thread.org_id !== inbound.org_id) throw new Ignored('expired_token');
  const customer = await findCustomer(thread.org_id, thread.customer_id);
  if (!customer || customer.erasing_at) throw new Ignored('gone');
  await noteAbout(inbound._id, [customer._id]);
  // The verdicts on spam and viruses are checked before the mail's content is parsed.
  const { spamVerdict, virusVerdict } = ses.receipt;
  if (virusVerdict?.status === 'FAIL') throw new Ignored('virus');
  if (spamVerdict?.status === 'FAIL') throw new Ignored('spam');
  const mail = await read(await bytesOf(ses, deps, signal), deps, signal);
  const refusal = await refusalOf(mail, ses, customer, deps);
  if (refusal) throw new Ignored(refusal);
  const conversation = await findConversation(thread.org_id, thread.conv_id);
  if (conversation && hasExpired(conversation, deps.clock())) throw new Ignored('expired_token');
  if (mail.text === '' && isCalendar(mail)) throw new Ignored('calendar');
  const body = (mail.text || attachmentNames(mail)).slice(0, maxBodyLength);
  if (body === '') throw new Ignored('empty');
  const key = createHash('sha256')
    .update(mail.message_id || ses.mail.messageId)
    .digest('hex')
    .slice(0, 40);
  return say(
    { customer, thread, conversation },
    { body, clientMessageId: `mail:${key}`, mail: originOf(mail, body) },
    mail,
    deps,
  );
}

async function bytesOf(ses: SesReceived, { objects, inboundBuckets }: EmailDeps, signal: AbortSignal): Promise<Buffer> {
  const content = contentOf(ses);
  if (content) return content;
  const { bucketName, objectKey } = ses.receipt.action;
  if (bucketName === undefined || objectKey === undefined) throw new Ignored('not_a_mail');
  if (!inboundBuckets.includes(bucketName)) throw new Ignored('foreign_bucket');
  if (objectKey.split('/').at(-1) === setupKey) throw new Ignored('setup');
  const fetched = await objects.fetch(bucketName, objectKey, { maxBytes: maxMailBytes, signal });
  if (fetched.kind === 'object') return fetched.body;
  throw new Ignored(fetched.kind);
}

async function read(bytes: Buffer, { files }: EmailDeps, signal: AbortSignal): Promise<ReadMail> {
  if (bytes.length > maxMailBytes) throw new Ignored('too_large');
  try {
    return await files.mail(Readable.from([bytes]), { signal });
  } catch (error) {
    if (error instanceof Unreadable) throw new Ignored(error.reason === 'too_large' ? 'too_large' : 'unreadable');
    throw error;
  }
}

/** The reason not to accept this mail as the customer's; undefined when it is accepted. */
async function refusalOf(
  mail: ReadMail,
  { receipt, mail: envelope }: SesReceived,
  customer: Readonly<Customer>,
  deps: EmailDeps,
): Promise<MailReason | undefined> {
  const from = readAddress(mail.from.address) ?? '';
  const { replyDomain, from: own } = deps.mail;
  const senders = [(await senderOf(deps, customer.org_id)).from, ...(own ? [own] : [])];
  const automatic = automaticReason({
    headers: mail.headers,
    from,
    envelopeFrom: envelope.source ?? '',
    subject: mail.subject,
    own: { addresses: senders.map(({ address }) => address), replyDomain },
  });
  if (automatic) return automatic;
  const { dkimVerdict, dmarcVerdict } = receipt;
  const distrusted = distrust({ dkim: dkimVerdict?.status, dmarc: dmarcVerdict?.status }, mail.signed_by);
  return distrusted ?? (from !== '' && from === replyAddressOf(customer) ? undefined : 'not_the_customer');
}

/** Whether the conversation's reply addresses have expired. */
const hasExpired = ({ status, updated_at }: Conversation, now: Date): boolean =>
  status === 'resolved' && now.getTime() - updated_at.getTime() > outlivesDays * dayMs;

/** Whether the mail contains only calendar entries. Accepting an invitation is not a message. */
const isCalendar = ({ attachments }: ReadMail): boolean =>
  attachments.length > 0 &&
  attachments.every(({ mime_type }) => /^(?:text\/calendar|application\/ics)$/i.test(mime_type));

const attachmentNames = ({ attachments }: ReadMail): string =>
  attachments.length === 0 ? '' : `[${attachments.map(({ filename, mime_type }) => filename || mime_type).join(', ')}]`;

const originOf = ({ subject, message_id, full_text, attachments }: ReadMail, body: string): MailOrigin => ({
  subject,
  ...(message_id === '' ? {} : { message_id }),
  ...(full_text === body ? {} : { full_text }),
  attachments,
});

type Place = { customer: Readonly<Customer>; thread: MailThread; conversation: Conversation | null };
type Words = { body: string; clientMessageId: string; mail: MailOrigin };

/**
 * Stores the message in the thread's conversation. When that conversation is gone or closed, the message goes into the
 * customer's current conversation.
 */
async function say(place: Place, words: Words, mail: ReadMail, deps: EmailDeps): Promise<string> {
  const { customer, conversation } = place;
  const { org_id: orgId, mode } = place.thread;
  if (conversation && (await sayIn(conversation, place, words, mail, deps))) return conversation._id;
  for (;;) {
    const current = await provideConversation(orgId, mode, customer._id, deps.clock());
    const thread = await provideThread(
      { org_id: orgId, mode, conv_id: current._id, customer_id: customer._id },
      deps.clock(),
    );
    if (await sayIn(current, { ...place, thread }, words, mail, deps)) return current._id;
  }
}

/** Returns false when the conversation accepts no more messages. */
async function sayIn(
  conversation: Conversation,
  { thread, conversation: answered }: Place,
  words: Words,
  mail: ReadMail,
  { clock, start, testConversationsPerMonth: limit }: EmailDeps,
): Promise<boolean> {
  const { _id: convId, org_id: orgId, mode } = conversation;
  // The mail is noted in its thread first, so that this system's answer refers to the mail.
  await noteIncoming(thread, mail);
  const standing = await findClientMessage(conversation, words.clientMessageId);
  if (standing) {
    await start(MessageModel, standing, standing.pending ?? []);
    return true;
  }
  const begin = async (): Promise<void> => {
    if (mode === 'live' || (await takeTestConversation(orgId, convId, limit, clock()))) return;
    count('quota_refusals_total', { quota: 'test_conversations' });
    throw new Ignored('test_limit');
  };
  // A mail has no session that names a product, so it gets the product of the customer's previous message. A mail that
  // begins a new conversation gets the product of the conversation that the mail answers.
  const productType = await lastProductType((conversation.position === 0 && answered) || conversation);
  try {
    const stored = await storeMessage(conversation, words, { productType, verified: true }, clock(), begin);
    await (stored.message ? countMissed : uncountMessage)(orgId, convId, stored.acted.reads);
    await startStored(stored, start);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

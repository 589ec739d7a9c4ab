/**
 * Mail threads: the message ids of a conversation's mails, and the id in its reply address. A thread is kept longer
 * than its conversation, so that a late reply still finds the customer.
 */
import { againIfDuplicate } from '../base/connect.ts';
import { acrossShards, collectionOf, defineModel, updaterOf, type RecordOf } from '../base/define.ts';
import { date, list, mixed, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { newTokenId } from './replytoken.ts';
import { modes } from '../rules/access/keys.ts';
import { keptUntil } from '../rules/chat/retention.ts';
import type { OutgoingMail } from '../rules/events/mailout.ts';
import type { Language } from '../rules/language/language.ts';

/** A mail whose text is written, but whose delivery is not stored yet. */
export type Outgoing = {
  /** The id of the last chat message that the mail contains. */
  event_id: string;
  message_ids: string[];
  mail: OutgoingMail;
  /** Whose mail server sends the mail. */
  via: 'deployment' | 'organization';
  /** True when the mail contains only messages of the agent. */
  automatic: boolean;
  /**
   * Set for a mail to an address that a visitor gave in a chat: the organization's name and the mail's language. The
   * mail then says who sends it, why, and how to unsubscribe.
   */
  outside?: { organization: string; language?: Language };
};

/** A reply address stays valid for this many days after the conversation ends. */
export const outlivesDays = 90;
/**
 * The maximum number of stored message ids. The oldest ids can be dropped, because mail programs also name newer ids in
 * `References`.
 */
const maxMailIds = 100;

const MailThreadModel = defineModel(
  'MailThread',
  'mail_threads',
  {
    /** The id in the thread's reply address, 32 hexadecimal digits. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    conv_id: string,
    customer_id: string,
    /** The subject of the first mail from the customer. */
    subject: optional(string),
    /** The newest `Message-ID`s of the thread, incoming and outgoing. */
    mail_ids: list(string),
    /** The `Message-ID` of the customer's newest mail. */
    answered_id: optional(string),
    /** The number of mails that were written to the customer. */
    mails: number,
    outgoing: optional(mixed<Outgoing>()),
    /** When the last mails (at most 10) that contain only the agent's messages were written. */
    automatic_at: list(date),
    created_at: date,
    /** When the thread expires; set in test mode only. */
    expires_at: optional(date),
  },
  [
    { fields: { org_id: 1, conv_id: 1 }, unique: true },
    { fields: { mail_ids: 1 } },
    { fields: { customer_id: 1 } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type MailThread = RecordOf<typeof MailThreadModel>;

const threads = () => collectionOf(MailThreadModel);
const update = updaterOf(MailThreadModel);

export type ThreadOf = Pick<MailThread, 'org_id' | 'mode' | 'conv_id' | 'customer_id'>;

/** Returns the thread of a conversation; creates the thread when the conversation has none. */
export async function provideThread({ org_id, mode, conv_id, customer_id }: ThreadOf, now: Date): Promise<MailThread> {
  const fresh = {
    _id: newTokenId(),
    mode,
    customer_id,
    mail_ids: [],
    mails: 0,
    automatic_at: [],
    created_at: now,
  };
  const thread = await againIfDuplicate(() =>
    threads().findOneAndUpdate(
      { org_id, conv_id },
      { $setOnInsert: fresh, $set: { ...keptUntil(mode, now, outlivesDays) } },
      { upsert: true, returnDocument: 'after' },
    ),
  );
  return thread!;
}

export async function findThread(id: string): Promise<MailThread | null> {
  return acrossShards(MailThreadModel).findOne({ _id: id });
}

export async function findThreadOf(orgId: string, convId: string): Promise<MailThread | null> {
  return threads().findOne({ org_id: orgId, conv_id: convId });
}

/** The thread of the first given mail that belongs to a known thread. */
export async function findThreadOfMails(mailIds: readonly string[]): Promise<MailThread | null> {
  if (mailIds.length === 0) return null;
  const found = await acrossShards(MailThreadModel)
    .find({ mail_ids: { $in: [...mailIds] } })
    .limit(20)
    .toArray();
  const at = ({ mail_ids }: MailThread): number => mailIds.findIndex((id) => mail_ids.includes(id));
  return found.toSorted((a, b) => at(a) - at(b))[0] ?? null;
}

/**
 * Reserves the thread for a new mail (optimistic locking). `mails` is the count of mails when the new one was written.
 * Returns false when another mail has been written since or is being sent, because both mails could contain the same
 * messages.
 */
export const takeOutgoing = ({ _id, org_id }: MailThread, mails: number, outgoing: Outgoing) =>
  update(org_id, _id, { $set: { outgoing } }, { mails, outgoing: { $exists: false } });

/** Counts a mail as sent. Call this after its delivery is stored and its messages are marked as mailed. */
export const settleOutgoing = ({ _id, org_id }: MailThread, { event_id, mail, automatic }: Outgoing, now: Date) =>
  update(
    org_id,
    _id,
    {
      $unset: { outgoing: '' },
      $inc: { mails: 1 },
      $push: {
        ...pushed([mail.message_id]),
        ...(automatic ? { automatic_at: { $each: [now], $slice: -10 } } : {}),
      },
    },
    { 'outgoing.event_id': event_id },
  );

/** Adds a mail from the customer to the thread. Idempotent. */
export async function noteIncoming(
  { _id, org_id }: MailThread,
  { message_id, subject }: { message_id: string; subject: string },
): Promise<void> {
  if (subject !== '') await update(org_id, _id, { $set: { subject } }, { subject: { $exists: false } });
  if (message_id === '') return;
  const received = { $push: pushed([message_id]), $set: { answered_id: message_id } };
  await update(org_id, _id, received, { mail_ids: { $ne: message_id } });
}

const pushed = (ids: readonly string[]) => ({ mail_ids: { $each: [...ids], $slice: -maxMailIds } });

/**
 * Mail threads: the mails of a conversation, which hang together by their ids, and the id in its reply address. A thread outlives
 * its conversation, so that an answer that comes late still finds the customer.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, list, mixed, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { newTokenId } from './replytoken.ts';
import { modes } from '../rules/access/keys.ts';
import { keptUntil } from '../rules/chat/retention.ts';
import type { OutgoingMail } from '../rules/events/mailout.ts';

/** A mail that is being handed to its delivery. */
export type Outgoing = {
  /** The id of the last message in it. */
  event_id: string;
  message_ids: string[];
  mail: OutgoingMail;
  /** Whose server sends it. */
  via: 'deployment' | 'organization';
  /** Of the agent alone. */
  automatic: boolean;
};

/** A reply address is good for this long after the end of its conversation. */
export const outlivesDays = 90;
/** A program that answers to something older names newer ones beside it. */
const maxMailIds = 100;

export const MailThreadModel = defineModel(
  'MailThread',
  'mail_threads',
  {
    /** The id in its reply address, 32 hexadecimal digits. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    conv_id: string,
    customer_id: string,
    /** Of the first mail that came in. */
    subject: optional(string),
    /** Ids of its mails, both ways: the first and the newest ones. */
    mail_ids: list(string),
    /** Of the customer's newest mail. */
    answered_id: optional(string),
    /** How many mails were made. */
    mails: number,
    outgoing: optional(mixed<Outgoing>()),
    /** When mails of the agent alone were made, the newest ones. */
    automatic_at: list(date),
    created_at: date,
    /** Of test mode. */
    expires_at: optional(date),
  },
  [
    { fields: { conv_id: 1 }, unique: true },
    { fields: { mail_ids: 1 } },
    { fields: { customer_id: 1 } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type MailThread = RecordOf<typeof MailThreadModel>;

const threads = () => collectionOf(MailThreadModel);

export type ThreadOf = Pick<MailThread, 'org_id' | 'mode' | 'conv_id' | 'customer_id'>;

/** The thread of a conversation, begun now when there is none. */
export async function provideThread({ org_id, mode, conv_id, customer_id }: ThreadOf, now: Date): Promise<MailThread> {
  const fresh = {
    _id: newTokenId(),
    org_id,
    mode,
    customer_id,
    mail_ids: [],
    mails: 0,
    automatic_at: [],
    created_at: now,
  };
  const write = () =>
    threads().findOneAndUpdate(
      { conv_id },
      { $setOnInsert: fresh, $set: { ...keptUntil(mode, now, outlivesDays) } },
      { upsert: true, returnDocument: 'after' },
    );
  try {
    return (await write())!;
  } catch (error) {
    // Another process made it at once.
    if (!isDuplicate(error)) throw error;
    return (await write())!;
  }
}

export async function findThread(id: string): Promise<MailThread | null> {
  return threads().findOne({ _id: id });
}

export async function findThreadOf(convId: string): Promise<MailThread | null> {
  return threads().findOne({ conv_id: convId });
}

/** The thread of the first of these mails that is known. */
export async function findThreadOfMails(mailIds: readonly string[]): Promise<MailThread | null> {
  if (mailIds.length === 0) return null;
  const found = await threads()
    .find({ mail_ids: { $in: [...mailIds] } })
    .limit(20)
    .toArray();
  const at = ({ mail_ids }: MailThread): number => mailIds.findIndex((id) => mail_ids.includes(id));
  return found.toSorted((a, b) => at(a) - at(b))[0] ?? null;
}

/**
 * Takes the thread for a mail that was written when it had `mails`; false when another mail was made, or is being handed over,
 * since: the messages in this one may be in that one.
 */
export async function takeOutgoing({ _id }: MailThread, mails: number, outgoing: Outgoing): Promise<boolean> {
  const { modifiedCount } = await threads().updateOne(
    { _id, mails, outgoing: { $exists: false } },
    { $set: { outgoing } },
  );
  return modifiedCount === 1;
}

/** A mail was handed to its delivery, and its messages are noted as told. */
export async function settleOutgoing(
  { _id }: MailThread,
  { event_id, mail, automatic }: Outgoing,
  now: Date,
): Promise<void> {
  await threads().updateOne(
    { _id, 'outgoing.event_id': event_id },
    {
      $unset: { outgoing: '' },
      $inc: { mails: 1 },
      $push: {
        ...pushed([mail.message_id]),
        ...(automatic ? { automatic_at: { $each: [now], $slice: -10 } } : {}),
      },
    },
  );
}

/** Notes a mail of the customer. Safe to repeat. */
export async function noteIncoming(
  { _id }: MailThread,
  { message_id, subject }: { message_id: string; subject: string },
): Promise<void> {
  if (subject !== '') await threads().updateOne({ _id, subject: { $exists: false } }, { $set: { subject } });
  if (message_id === '') return;
  await threads().updateOne(
    { _id, mail_ids: { $ne: message_id } },
    { $push: pushed([message_id]), $set: { answered_id: message_id } },
  );
}

const pushed = (ids: readonly string[]) => ({ mail_ids: { $each: [...ids], $slice: -maxMailIds } });

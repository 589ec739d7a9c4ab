/**
 * Presence of customers: who has a socket open, and when each customer was last seen. It decides whether a reply is
 * also mailed. Each API process stores, in batches, which customers come and go (api/chat/presence.ts), and a
 * heartbeat. The entries of a process without a heartbeat are ignored.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, list, string } from '../rules/base/fields.ts';

/** A process without a heartbeat for this long counts as dead, in ms; the heartbeat comes every 10 s. */
const deadAfterMs = 30_000;
/**
 * The retention period of presence records, in ms. Processes renew the records of connected customers well before it
 * ends.
 */
const keptMs = 2 * 86_400_000;
export const renewPresenceEveryMs = keptMs / 4;

export const PresenceModel = defineModel(
  'Presence',
  'presences',
  {
    /** The customer's id. */
    _id: string,
    org_id: string,
    /** The processes in which the customer has an open socket. */
    processes: list(string),
    /** When the customer was last known to be connected. */
    seen_at: date,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type Presence = RecordOf<typeof PresenceModel>;

const SocketProcessModel = defineModel(
  'SocketProcess',
  'socket_processes',
  {
    _id: string,
    alive_at: date,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type SocketProcess = RecordOf<typeof SocketProcessModel>;

const keptUntil = (now: Date): Date => new Date(now.getTime() + keptMs);

/** A customer who connected to this process, or left it. */
export type Seen = { orgId: string; customerId: string; present: boolean };

/** Stores who connected to this process and who left it, in one batch. */
export async function notePresence(processId: string, seen: readonly Seen[], now: Date): Promise<void> {
  if (seen.length === 0) return;
  await collectionOf(PresenceModel).bulkWrite(
    seen.map(({ orgId, customerId, present }) => ({
      updateOne: {
        filter: { _id: customerId },
        update: {
          $set: { expires_at: keptUntil(now) },
          $max: { seen_at: now },
          $setOnInsert: { org_id: orgId, ...(present ? {} : { processes: [] }) },
          ...(present ? { $addToSet: { processes: processId } } : {}),
        },
        upsert: true,
      },
    })),
    { ordered: false },
  );
  const gone = seen.filter(({ present }) => !present).map(({ customerId }) => customerId);
  if (gone.length > 0)
    await collectionOf(PresenceModel).updateMany({ _id: { $in: gone } }, { $pull: { processes: processId } });
}

/** Stores the heartbeat of a process that holds sockets. */
export async function noteAlive(processId: string, now: Date): Promise<void> {
  const fields = { alive_at: now, expires_at: keptUntil(now) };
  await collectionOf(SocketProcessModel).updateOne({ _id: processId }, { $set: fields }, { upsert: true });
}

/** When a customer was last connected: `now` when a socket is open, undefined when the customer was not seen lately. */
export async function lastSeen(orgId: string, customerId: string, now: Date): Promise<Date | undefined> {
  const presence = await collectionOf(PresenceModel).findOne({ _id: customerId, org_id: orgId });
  if (!presence) return undefined;
  const alive = { $gt: new Date(now.getTime() - deadAfterMs) };
  const living = await collectionOf(SocketProcessModel).countDocuments(
    { _id: { $in: presence.processes }, alive_at: alive },
    { limit: 1 },
  );
  return living > 0 ? now : presence.seen_at;
}

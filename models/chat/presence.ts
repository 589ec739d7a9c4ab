/**
 * Who has a socket open, and who had one last when: what decides whether somebody is told by mail. Each API process writes down
 * who comes and goes, many at once (api/chat/presence.ts), and that it lives; what a dead process wrote down counts for nothing.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, list, string } from '../rules/base/fields.ts';

/** A process that has not said for this long that it lives is dead; it says so every 10 s. */
const deadAfterMs = 30_000;
/** What is longer ago decides nothing. Processes write down anew who is still there, well before that. */
const keptMs = 2 * 86_400_000;
export const renewPresenceEveryMs = keptMs / 4;

export const PresenceModel = defineModel(
  'Presence',
  'presences',
  {
    /** The customer's. */
    _id: string,
    org_id: string,
    /** The processes in which it has a socket. */
    processes: list(string),
    /** When it was last known to be there. */
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

/** One customer, and whether it is in this process now or has left. */
export type Seen = { orgId: string; customerId: string; present: boolean };

/** Writes down who came to this process and who left it, in one command. */
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

/** Says that a process that holds sockets lives. */
export async function noteAlive(processId: string, now: Date): Promise<void> {
  const fields = { alive_at: now, expires_at: keptUntil(now) };
  await collectionOf(SocketProcessModel).updateOne({ _id: processId }, { $set: fields }, { upsert: true });
}

/** When a customer was last there: `now` when it has a socket open, undefined when it was not seen lately. */
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

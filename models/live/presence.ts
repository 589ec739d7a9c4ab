/**
 * Presence of customers and members: who has a socket open, and when each was last seen. Presence decides who is
 * notified, and what is mailed. Each API process stores in batches who connects and who leaves (api/live/presence.ts),
 * and stores a heartbeat. A process without a recent heartbeat counts as dead, and its sockets as closed.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, list, string } from '../rules/base/fields.ts';
import { expiryOf, keptSeconds } from '../rules/base/retention.ts';

/** A process without a heartbeat for this long counts as dead, in ms; the heartbeat comes every 10 s. */
const deadAfterMs = 30_000;
/**
 * How often processes renew the records of connected people, in ms: a quarter of the retention period of these records.
 */
export const renewPresenceEveryMs: number = keptSeconds('presences') * 250;

export const PresenceModel = defineModel(
  'Presence',
  'presences',
  {
    /** For a customer, the id of the conversation; for a member, the id that `memberPresence` makes. */
    _id: string,
    org_id: string,
    /** The processes in which the person has an open socket. */
    processes: list(string),
    /** When the person was last known to be connected. */
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

const keptUntil = (now: Date): Date => expiryOf('presences', now);

/** The presence id of a member in an organization; a user may be connected in one organization and not in another. */
export const memberPresence = (orgId: string, userId: string): string => `${orgId}:${userId}`;

/** The user id in a presence id that `memberPresence` made. */
export const userOfPresence = ({ orgId, personId }: Person): string => personId.slice(orgId.length + 1);

/**
 * `personId`: for a member, the id that `memberPresence` makes; for a customer, the id of the conversation that the
 * socket shows. A customer who has one conversation open is not present in the customer's other conversations.
 */
export type Person = { orgId: string; personId: string };
/** A person who connected to this process, or left it. */
export type Seen = Person & { present: boolean };

/** Stores who connected to this process and who left it, in one batch. */
export async function notePresence(processId: string, seen: readonly Seen[], now: Date): Promise<void> {
  if (seen.length === 0) return;
  await collectionOf(PresenceModel).bulkWrite(
    seen.map(({ orgId, personId, present }) => ({
      updateOne: {
        filter: { _id: personId },
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
  const gone = seen.filter(({ present }) => !present).map(({ personId }) => personId);
  if (gone.length > 0)
    await collectionOf(PresenceModel).updateMany({ _id: { $in: gone } }, { $pull: { processes: processId } });
}

export async function noteAlive(processId: string, now: Date): Promise<void> {
  const fields = { alive_at: now, expires_at: keptUntil(now) };
  await collectionOf(SocketProcessModel).updateOne({ _id: processId }, { $set: fields }, { upsert: true });
}

/** When a person was last connected: `now` when a socket is open, undefined when the person was not seen lately. */
export async function lastSeen({ orgId, personId }: Person, now: Date): Promise<Date | undefined> {
  return (await whenSeen(orgId, [personId], now)).get(personId);
}

/** The members among `userIds` who have an open socket now. */
export async function membersHere(orgId: string, userIds: readonly string[], now: Date): Promise<string[]> {
  const seen = await whenSeen(
    orgId,
    userIds.map((userId) => memberPresence(orgId, userId)),
    now,
  );
  return userIds.filter((userId) => seen.get(memberPresence(orgId, userId)) === now);
}

/** When each person was last connected; those who were not seen lately are missing. */
async function whenSeen(orgId: string, personIds: readonly string[], now: Date): Promise<Map<string, Date>> {
  const presences = await collectionOf(PresenceModel)
    .find({ _id: { $in: [...personIds] }, org_id: orgId })
    .toArray();
  const alive = await collectionOf(SocketProcessModel).distinct('_id', {
    _id: { $in: presences.flatMap(({ processes }) => processes) },
    alive_at: { $gt: new Date(now.getTime() - deadAfterMs) },
  });
  return new Map(
    presences.map(({ _id, processes, seen_at }) => [_id, processes.some((id) => alive.includes(id)) ? now : seen_at]),
  );
}

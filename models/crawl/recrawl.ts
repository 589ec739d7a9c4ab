/**
 * Schedules that crawl sites again at an interval. These records are authoritative; Temporal Schedules are created from
 * them (activities/crawl/recrawl.ts), and a Temporal Schedule without its record does nothing.
 */
import { collectionOf, defineModel, newest, olderThan, updaterOf, type RecordOf } from '../base/define.ts';
import { date, embedded, flag, list, number, oneOf, optional, string, type ValueOf } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { authorities } from '../rules/knowledge/authority.ts';
import { Problem } from '../rules/base/errors.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { maxSchedules } from '../rules/crawl/recrawl.ts';

const skipped = embedded({
  at: date,
  reason: string,
});
type Skipped = ValueOf<typeof skipped>;

export const RecrawlModel = defineModel(
  'Recrawl',
  'recrawls',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    /** The canonical start address; each address has at most one schedule. */
    url: string,
    /**
     * True until the schedule is removed. A removed schedule is kept, without this field, until its Temporal Schedule
     * is deleted.
     */
    active: flag,
    every_hours: number,
    max_pages: number,
    segments: optional(list(string)),
    authority: optional(oneOf(authorities)),
    /**
     * When a caller last created or changed the schedule. Crawls start at multiples of the interval after this time.
     */
    anchor_at: date,
    /** Increments with each change that must also be made to the Temporal Schedule. */
    version: number,
    created_by: string,
    created_at: date,
    last_crawl_id: optional(string),
    /** Why no crawl started at the last scheduled time; unset when a crawl starts. */
    last_skipped: optional(skipped),
    pending: pendingField,
  },
  [{ fields: { org_id: 1, mode: 1, url: 1 }, unique: true, partialFilterExpression: { active: true } }, pendingIndex],
);
export type Recrawl = RecordOf<typeof RecrawlModel>;

const update = updaterOf(RecrawlModel);

const active = (orgId: string, among: readonly Mode[]) => ({
  org_id: orgId,
  mode: { $in: among },
  active: true as const,
});

export type RecrawlOptions = Pick<Recrawl, 'every_hours' | 'max_pages' | 'segments' | 'authority'>;

/**
 * Creates the schedule of a site, or changes the options and the anchor of the existing one. Call this only within
 * `createCrawl`, which runs once at a time for an organization and mode. Otherwise two concurrent calls could exceed
 * the maximum number of schedules.
 * @throws Problem CONFLICT when there is the maximum number of schedules already.
 */
export async function putRecrawl(
  site: Pick<Recrawl, 'org_id' | 'mode' | 'url'>,
  { every_hours, max_pages, segments, authority }: RecrawlOptions,
  by: { actor: string; now: Date; arranging: (scheduleId: string) => Intent },
): Promise<Recrawl> {
  const standing = await collectionOf(RecrawlModel).findOne({ ...site, active: true }, { projection: { _id: 1 } });
  if (!standing) {
    const count = await collectionOf(RecrawlModel).countDocuments(active(site.org_id, [site.mode]));
    if (count >= maxSchedules) {
      const message = `An organization may have ${maxSchedules} crawl schedules; remove one first. Nothing was crawled.`;
      throw new Problem('CONFLICT', { message });
    }
  }
  const id = standing?._id ?? newId('schedule');
  const stored = await collectionOf(RecrawlModel).findOneAndUpdate(
    { ...site, _id: id },
    {
      $set: {
        active: true,
        every_hours,
        max_pages,
        ...(segments ? { segments } : {}),
        ...(authority ? { authority } : {}),
        anchor_at: by.now,
      },
      $unset: { ...(segments ? {} : { segments: 1 }), ...(authority ? {} : { authority: 1 }) },
      $inc: { version: 1 },
      $setOnInsert: { created_by: by.actor, created_at: by.now },
      $push: { pending: by.arranging(id) },
    },
    { upsert: true, returnDocument: 'after' },
  );
  return stored!;
}

/** The active schedules, newest first; `before` is the `_id` of the last entry of the previous page. */
export async function listRecrawls(
  orgId: string,
  among: readonly Mode[],
  limit: number,
  before?: string,
): Promise<Recrawl[]> {
  return newest(collectionOf(RecrawlModel).find({ ...active(orgId, among), ...olderThan(before) }), limit);
}

export async function countRecrawls(orgId: string, among: readonly Mode[]): Promise<number> {
  return collectionOf(RecrawlModel).countDocuments(active(orgId, among));
}

/** Finds a schedule; null when there is none with this id, or it was removed. */
export async function findRecrawl(orgId: string, scheduleId: string): Promise<Recrawl | null> {
  return collectionOf(RecrawlModel).findOne({ _id: scheduleId, org_id: orgId, active: true });
}

/** Removes a schedule: it is no longer listed and starts no further crawl. Null when it was removed before. */
export async function removeRecrawl(
  orgId: string,
  among: readonly Mode[],
  scheduleId: string,
  intent: Intent,
): Promise<Recrawl | null> {
  return collectionOf(RecrawlModel).findOneAndUpdate(
    { ...active(orgId, among), _id: scheduleId },
    { $unset: { active: 1 }, $inc: { version: 1 }, $push: { pending: intent } },
    { returnDocument: 'after' },
  );
}

/**
 * Deletes the record of a removed schedule, once its Temporal Schedule is deleted. A removed schedule never becomes
 * active again.
 */
export async function dropRecrawl(orgId: string, scheduleId: string): Promise<void> {
  await collectionOf(RecrawlModel).deleteOne({ _id: scheduleId, org_id: orgId, active: { $exists: false } });
}

/**
 * Stores the id of the crawl that a schedule has started. Idempotent.
 * @throws Problem NOT_FOUND when the schedule was removed.
 */
export async function noteBegun(orgId: string, scheduleId: string, crawlId: string): Promise<void> {
  const begun = { $set: { last_crawl_id: crawlId }, $unset: { last_skipped: 1 as const } };
  if (!(await update(orgId, scheduleId, begun, { active: true }))) throw new Problem('NOT_FOUND');
}

export const noteSkipped = (orgId: string, scheduleId: string, skipped: Skipped) =>
  update(orgId, scheduleId, { $set: { last_skipped: skipped } }, { active: true });

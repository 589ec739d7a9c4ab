/**
 * The activities of a crawl schedule. The Temporal Schedule is created from the record, never from a workflow's
 * arguments. Each firing of the schedule stores a crawl in the same way as a caller's request does.
 */
import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import { count } from '../../clients/base/meter.ts';
import { checkCrawlRoom, createCrawl, findCrawlOfFiring, newCrawl } from '../../models/crawl/crawl.ts';
import { newId } from '../../models/base/ids.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { dropRecrawl, findRecrawl, noteBegun, noteSkipped, type Recrawl } from '../../models/crawl/recrawl.ts';
import type { CrawlOrder } from '../../models/rules/crawl/crawl.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import type { Quotas } from '../../models/rules/knowledge/quota.ts';
import { whySkipped } from '../../models/rules/crawl/recrawl.ts';

/** The operations on the Temporal Schedule of a crawl schedule. They are idempotent. */
export type RecrawlSchedules = {
  /** Creates or updates the Temporal Schedule of this record; a schedule that operators paused stays paused. */
  put(recrawl: Recrawl): Promise<void>;
  /** Removes the schedule, if there is one. */
  remove(scheduleId: string): Promise<void>;
};

export type RecrawlDeps = { schedules: RecrawlSchedules; quotas: Quotas; clock: () => Date; log: Logger };
type Ref = { orgId: string; scheduleId: string };
export type RecrawlActivities = ReturnType<typeof createRecrawlActivities>;

/** The outcome of a firing: its crawl, or why there is none. */
export type Begun =
  { state: 'begun'; crawlId: string; mode: Mode } | { state: 'skipped'; reason: string } | { state: 'gone' };

export function createRecrawlActivities({ schedules, quotas, clock, log }: RecrawlDeps) {
  /** Stores the crawl of a firing, and notes it on the schedule's record. */
  async function begin(recrawl: Recrawl, firing: string): Promise<Begun> {
    const { _id, org_id, mode, url, max_pages, segments, authority } = recrawl;
    const tags = { ...(segments ? { segments } : {}), ...(authority ? { authority } : {}) };
    const order: CrawlOrder = { url, max_pages, ...tags, replace: false };
    const environment = (await findOrganization(org_id))?.environment ?? 'sandbox';
    await checkCrawlRoom(quotas, environment, org_id, mode, order);
    const crawl = newCrawl(order, { _id: newId('crawl'), org_id, mode, started_by: _id, started_at: clock(), firing });
    await createCrawl(crawl, () => noteBegun(org_id, _id, crawl._id));
    return { state: 'begun', crawlId: crawl._id, mode };
  }

  /** Notes the crawl on the schedule's record, unless the schedule was removed meanwhile. */
  async function noteLate(orgId: string, scheduleId: string, crawlId: string): Promise<void> {
    try {
      await noteBegun(orgId, scheduleId, crawlId);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  async function begunBy(orgId: string, firing: string): Promise<(Begun & { state: 'begun' }) | null> {
    const crawl = await findCrawlOfFiring(orgId, firing);
    return crawl && { state: 'begun', crawlId: crawl._id, mode: crawl.mode };
  }

  return {
    /**
     * Makes the Temporal Schedule equal the record. The loop reads the record again after writing, so that of two
     * concurrent runs the last one applies the current record.
     */
    async arrangeRecrawl({ orgId, scheduleId }: Ref): Promise<void> {
      let recrawl = await findRecrawl(orgId, scheduleId);
      for (;;) {
        cancellationSignal().throwIfAborted();
        const made: number | undefined = recrawl?.version;
        if (recrawl) await schedules.put(recrawl);
        else await schedules.remove(scheduleId);
        recrawl = await findRecrawl(orgId, scheduleId);
        if (recrawl?.version === made) break;
      }
      if (!recrawl) await dropRecrawl(orgId, scheduleId);
    },

    /**
     * Starts the crawl of a firing, or notes on the schedule why there is none. Idempotent: a repeated call starts no
     * second crawl.
     */
    async beginRecrawl({ orgId, scheduleId, firing }: Ref & { firing: string }): Promise<Begun> {
      const recrawl = await findRecrawl(orgId, scheduleId);
      const begun = await begunBy(orgId, firing);
      if (begun) {
        // The attempt that stored the crawl may have died before it noted the crawl on the schedule.
        if (recrawl && recrawl.last_crawl_id !== begun.crawlId) await noteLate(orgId, scheduleId, begun.crawlId);
        return begun;
      }
      if (!recrawl) return { state: 'gone' };
      try {
        return await begin(recrawl, firing);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (error.code === 'NOT_FOUND') return { state: 'gone' };
        // `begin` may have been refused because a crawl is running. That crawl may be this firing's own, stored by an
        // attempt that was believed dead.
        const own = await begunBy(orgId, firing);
        if (own) return own;
        if (error.quota !== undefined) count('quota_refusals_total', { quota: error.quota });
        const reason = whySkipped(error);
        await noteSkipped(orgId, scheduleId, { at: clock(), reason });
        log.info({ org_id: orgId, schedule_id: scheduleId, reason }, 'no crawl at its time');
        return { state: 'skipped', reason };
      }
    },
  };
}

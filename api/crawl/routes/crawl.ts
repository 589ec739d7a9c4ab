/** Routes of crawls: start, status, cancel. workflows/crawl/crawl.ts does the crawl. */
import { key } from '../../access/auth.ts';
import * as contract from '../contract/crawl.ts';
import { command, isGone, launch, startSaved } from '../../../workflows/start.ts';
import { viewSchedule } from '../recrawl.ts';
import { route } from '../../http/route.ts';
import {
  checkCrawlRoom,
  createCrawl,
  CrawlModel,
  endCrawl,
  findCrawl,
  crawlToCancel,
  latestCrawl,
  newCrawl,
  type Crawl,
} from '../../../models/crawl/crawl.ts';
import { countPagesLacking } from '../../../models/knowledge/embedding.ts';
import { newId } from '../../../models/base/ids.ts';
import { intentFor } from '../../../models/base/pending.ts';
import { putRecrawl, RecrawlModel } from '../../../models/crawl/recrawl.ts';
import { crawlOrder } from '../../../models/rules/crawl/crawl.ts';
import { noSuch, Problem } from '../../../models/rules/base/errors.ts';
import { arrangeRecrawlWork, crawlSiteWork, crawlSiteWorkflowId } from '../../../models/rules/crawl/work.ts';
import { cancelCrawl } from '../../../workflows/crawl/crawl.ts';

const idle = {
  status: 'idle' as const,
  source: 'last_run' as const,
  crawl_id: null,
  url: null,
  pages_found: 0,
  pages_processed: 0,
  pages_unchanged: 0,
  pages_skipped: 0,
  pages_failed: 0,
  pages_to_embed: 0,
  problems: [],
  problem_counts: [],
  started_at: null,
  completed_at: null,
};

function view(crawl: Crawl | null, pages_to_embed = 0) {
  if (!crawl) return idle;
  return {
    ...crawl,
    pages_to_embed,
    crawl_id: crawl._id,
    problem_counts: crawl.problem_counts ?? [],
    source: crawl.status === 'crawling' ? ('live' as const) : ('last_run' as const),
  };
}

export const crawlRoutes = [
  route(contract.startCrawl, {
    summary: 'Crawl a site, from an address and below it; its pages answer questions as they come in.',
    auth: key('support:write'),
    status: 202,
    errors: ['CRAWL_RUNNING', 'CONFLICT', 'SANDBOX_LIMIT', 'BETA_LIMIT_REACHED'],
    async handle({ params: { orgId }, body, principal: { mode, environment, actor } }, ctx) {
      const { order, everyHours } = crawlOrder(body);
      await checkCrawlRoom(ctx.config.quotas, environment, orgId, mode, order);
      const now = ctx.clock();
      const origin = { _id: newId('crawl'), org_id: orgId, mode, started_by: actor, started_at: now };
      const { schedule, ...crawl } = await launch(
        ctx,
        CrawlModel,
        [crawlSiteWork(orgId, origin._id)],
        async ([intent]) => {
          const crawl = newCrawl(order, { ...origin, pending: [intent] });
          const schedule = await createCrawl(crawl, async () => {
            if (everyHours === undefined) return null;
            const site = { org_id: orgId, mode, url: order.url };
            const arranging = (scheduleId: string) =>
              intentFor(arrangeRecrawlWork(orgId, scheduleId, newId('request')), now);
            return putRecrawl(site, { ...order, every_hours: everyHours }, { actor, now, arranging });
          });
          return { ...crawl, schedule };
        },
      );
      if (schedule) await startSaved(ctx, RecrawlModel, schedule, schedule.pending!.slice(-1));
      return {
        crawl_id: crawl._id,
        status: view(crawl),
        ...(schedule ? { schedule: viewSchedule(schedule, now) } : {}),
      };
    },
  }),
  route(contract.getCrawlStatus, {
    summary: 'The running crawl, or what became of the last one.',
    auth: key('support:read'),
    async handle({ params: { orgId }, query: { crawl_id }, principal: { modes } }, { embedding: { model } }) {
      const crawl = crawl_id === undefined ? await latestCrawl(orgId, modes) : await findCrawl(orgId, crawl_id);
      if (crawl_id !== undefined && !(crawl && modes.includes(crawl.mode))) throw noSuch('crawl');
      const toEmbed = crawl && model !== undefined ? await countPagesLacking(crawl, crawl._id, model) : 0;
      const status = view(crawl, toEmbed);
      return { ...status, status };
    },
  }),
  route(contract.cancelCrawl, {
    summary: 'End the running crawl; what it has indexed stays, unless it was to replace all pages.',
    auth: key('support:write'),
    status: 202,
    errors: ['CONFLICT', 'ILLEGAL_TRANSITION', 'UNAVAILABLE'],
    async handle({ params: { orgId }, principal: { mode }, commandIds }, ctx) {
      const crawl = await crawlToCancel(orgId, mode, commandIds);
      // An earlier attempt of this request cancelled the crawl, but its reply was lost.
      if (crawl?.status === 'cancelled' && crawl.cancelled_by?.some((id) => commandIds.includes(id)))
        return { crawl_id: crawl._id, status: view(crawl) };
      if (crawl?.status !== 'crawling') throw new Problem('CONFLICT', { message: 'No crawl is running.' });
      try {
        await command(ctx, crawlSiteWorkflowId(crawl._id), cancelCrawl, { id: `cancel:${crawl._id}`, args: [] });
      } catch (error) {
        // A workflow that is gone was terminated by an operator. So the crawl is marked as ended here; otherwise no
        // other crawl could start.
        if (crawl.pending?.length || !isGone(error)) throw error;
        await endCrawl(orgId, crawl._id, { status: 'cancelled', error: 'Its workflow was terminated.' }, ctx.clock());
      }
      return { crawl_id: crawl._id, status: view(crawl) };
    },
  }),
];

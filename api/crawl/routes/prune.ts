/** Route of pruning: reports or removes stored and indexed chunks of pages that are gone. */
import { key } from '../../access/auth.ts';
import * as contract from '../contract/prune.ts';
import { route } from '../../http/route.ts';
import { findOrphans, launchPruning } from '../prune.ts';
import { latestCrawl } from '../../../models/crawl/crawl.ts';
import { Problem } from '../../../models/rules/base/errors.ts';

export const pruneRoutes = [
  route(contract.pruneKnowledge, {
    summary: 'Hold the index against the pages that exist, and report or remove what belongs to none.',
    auth: key('support:write'),
    errors: ['CRAWL_RUNNING'],
    async handle({ params: { orgId }, body, principal: { mode } }, ctx) {
      const { orphaned, live } = await findOrphans(ctx.search, orgId, mode);
      // Chunks that a running crawl is writing belong to no page yet, so pruning is refused while a crawl runs. If a
      // crawl starts after this check, the removal skips everything that has changed.
      if ((await latestCrawl(orgId, [mode]))?.status === 'crawling') throw new Problem('CRAWL_RUNNING');
      const deleted = body.apply ? await launchPruning(ctx, orgId, mode, orphaned) : 0;
      return { orphaned, live, deleted };
    },
  }),
];

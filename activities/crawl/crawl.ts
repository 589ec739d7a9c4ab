/**
 * The activities of a crawl: batches of pages are fetched, read and stored, then the crawl is ended. Every step is
 * idempotent: pages are written by URL and generation, and a URL with a stored outcome is never fetched again.
 */
import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import { createCrawlBatch, type CrawlProgress } from './batch.ts';
import { createCrawlFinish } from './finish.ts';
import { createPageStore } from './pagestore.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { Search } from '../../clients/knowledge/search/search.ts';
import type { Sites } from '../../clients/crawl/site/site.ts';
import { findCrawl, type Ending } from '../../models/crawl/crawl.ts';
import { dropFrontier } from '../../models/crawl/frontier.ts';
import type { Quotas } from '../../models/rules/knowledge/quota.ts';

export type { CrawlProgress } from './batch.ts';
export type CrawlDeps = {
  sites: Sites;
  search: Search;
  embedding: Pick<Embedding, 'model'>;
  quotas: Quotas;
  clock: () => Date;
  log: Logger;
};
type Ref = { orgId: string; crawlId: string };
type Ended = Ending | { failed: string };
export type CrawlActivities = ReturnType<typeof createCrawlActivities>;

export function createCrawlActivities({ sites, search, embedding, quotas, clock, log }: CrawlDeps) {
  const store = createPageStore({ search, embedding, quotas, clock });
  const runBatch = createCrawlBatch({ sites, store, clock });
  const finish = createCrawlFinish({ search, embedding, clock });

  return {
    /** Processes the frontier for half a minute. */
    async crawlBatch(ref: Ref): Promise<CrawlProgress> {
      return runBatch(ref, cancellationSignal());
    },

    /** Ends the crawl. Returns the status on its record, and the reason if the crawl failed. */
    async finishCrawl({ orgId, crawlId, ending, error }: Ref & { ending: Ending; error?: string | undefined }) {
      const crawl = await findCrawl(orgId, crawlId);
      if (!crawl) return ending;
      if (crawl.status !== 'crawling') {
        await dropFrontier(crawlId);
        return ended(crawl.status, crawl.error);
      }
      const { status, why } = await finish(crawl, ending, error);
      log.info({ org_id: orgId, crawl_id: crawlId, status, pages: crawl.pages_processed }, 'crawl ended');
      return ended(status, why);
    },
  };
}

const ended = (status: Ending, why: string | undefined): Ended =>
  status === 'failed' && why !== undefined ? { failed: why } : status;

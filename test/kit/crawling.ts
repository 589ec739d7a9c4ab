/** Requests about crawls to the API, for one organization of one system. */
import { expect } from '@jest/globals';
import { said, until, type Api, type Reply, type TestOrg } from './harness.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type Crawler = Awaited<ReturnType<typeof newCrawler>>;

/** A new organization with a key; test mode by default. */
export async function newCrawler(api: Api, at: { org?: TestOrg; mode?: 'test' | 'live' } = {}) {
  const org = at.org ?? (await api.newOrg());
  const { token } = await api.newKey(org, { mode: at.mode ?? 'test' });
  const base = `/orgs/${org.orgId}`;
  const ask = async (method: string, path: string, body?: object) =>
    api.request(method, `${base}${path}`, { token, ...defined({ body }) });
  const status = async () => (await ask('GET', '/crawl/status')).body.status;
  const ended = () => {
    let now: Awaited<ReturnType<typeof status>>;
    return until(
      async () => {
        now = await status();
        return now.status !== 'crawling' && now;
      },
      () => `the crawl to end; the last status was ${JSON.stringify(now)}`,
    );
  };
  const askToCancel = () => ask('POST', '/crawl/cancel', {});
  const start = (url: string, options: object = {}) => ask('POST', '/crawl', { url, options });
  return {
    org,
    start,
    status,
    ended,
    async begin(url: string, options: object = {}): Promise<string> {
      const { status: code, body } = await start(url, options);
      expect([url, code, body.status?.status]).toEqual([url, 202, 'crawling']);
      return body.crawl_id;
    },
    async crawl(url: string, options: object = {}) {
      await this.begin(url, options);
      return ended();
    },
    askToCancel,
    /** Cancels the crawl as soon as its workflow accepts that. */
    async cancel(): Promise<void> {
      let last: Reply | undefined;
      let unanswered = false;
      const taken = async (): Promise<boolean> => {
        last = await askToCancel();
        unanswered ||= last.status === 503;
        if (last.status === 202 || last.body.error !== 'No crawl is running.') return last.status === 202;
        // A cancellation that got no answer in time may still have been accepted.
        if (unanswered && (await status()).status === 'cancelled') return true;
        throw new Error(`The crawl ended before it was cancelled: ${JSON.stringify(await status())}`);
      };
      await until(taken, () => `the workflow to take the cancel; the last answer was ${said(last)}`);
    },
    answer: async (query: string): Promise<string> => (await ask('POST', '/kb/query', { query })).body.answer,
    pages: async () => (await ask('GET', '/knowledge-base?limit=100')).body,
    remove: async (pageId: string) => (await ask('DELETE', `/knowledge-base/${pageId}`)).status,
    /** Counts stored or indexed data that belongs to no page or is incomplete. Fails while a crawl is running. */
    orphans: async () => (await ask('POST', '/knowledge-base/prune', {})).body.orphaned,
  };
}

/** The reasons why pages were left out, by path. */
export function reasonsOf(ended: { problems: { url: string; reason: string }[] }): Record<string, string> {
  return Object.fromEntries(
    ended.problems.map(({ url, reason }) => [new URL(url).pathname + new URL(url).search, reason]),
  );
}

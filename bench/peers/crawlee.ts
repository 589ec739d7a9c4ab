/**
 * The crawler that the `crawl` benchmark compares this system's crawler with: Crawlee's CheerioCrawler with default
 * settings and in-memory storage. Each message `{ url }` starts one crawl of that site. Title, main text and links are
 * extracted from every page, but only the numbers of pages and characters are kept.
 */
import { CheerioCrawler, Configuration, LogLevel, log } from '@crawlee/cheerio';

export type PeerResult = { type: 'crawled'; pages: number; failed: number; characters: number; seconds: number };

log.setLevel(LogLevel.OFF);

async function crawl(url: string, maxRequests: number): Promise<PeerResult> {
  let [pages, failed, characters] = [0, 0, 0];
  const crawler = new CheerioCrawler(
    {
      maxRequestsPerCrawl: maxRequests,
      respectRobotsTxtFile: false,
      async requestHandler({ $, enqueueLinks }) {
        const title = $('title').text();
        const named = $('main, article');
        const main = (named.length > 0 ? named.first() : $('body')).clone();
        main.find('nav, script, style').remove();
        const text = main.text().replaceAll(/\s+/gu, ' ').trim();
        pages += 1;
        characters += title.length + text.length;
        await enqueueLinks();
      },
      failedRequestHandler() {
        failed += 1;
      },
    },
    new Configuration({ persistStorage: false, purgeOnStart: true }),
  );
  const began = performance.now();
  await crawler.run([url]);
  return { type: 'crawled', pages, failed, characters, seconds: (performance.now() - began) / 1000 };
}

process.on('message', ({ url, maxRequests }: { url: string; maxRequests: number }) => {
  crawl(url, maxRequests).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('SIGTERM', () => process.exit(0));
process.send?.({ type: 'ready' });

/** How a crawl reads pages that redirect, have collapsed answers, or have table cells that span rows. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newCrawler, reasonsOf, type Crawler } from '../kit/crawling.ts';
import { system } from '../kit/harness.ts';
import { page, sitesOfTest } from '../kit/sites.ts';

const siteOf = sitesOfTest();

const shared = system();
let crawler: Crawler;
beforeEach(async () => {
  crawler = await newCrawler(shared);
});

const titles = async (): Promise<string[]> =>
  (await crawler.pages()).entries.map(({ title }: { title: string }) => title).toSorted();

describe('a start page that redirects', () => {
  it('a start page with a meta refresh is replaced by its target', async () => {
    const site = await siteOf({
      '/': '<title>Redirecting</title><meta http-equiv="refresh" content="0; url=/en/latest/"><a href="/en/">Go on</a>',
      '/en/latest/': page('Manual', 'The dunlin manual describes each of the eleven switches.'),
    });
    const done = await crawler.crawl(site.url);
    expect(done.status).toBe('completed');
    expect(reasonsOf(done)['/']).toBe(`The address leads on to ${site.url}/en/latest/.`);
    expect(await titles()).toEqual(['Manual']);
  });

  it('when a start page redirects to its own URL without the slash, the crawl stays within that part of the site', async () => {
    const site = await siteOf({
      '/docs/': (_, response) => void response.writeHead(308, { location: '/docs' }).end(),
      '/docs': page('Docs', 'The knot documentation begins here.', ['/docs/fees', '/docs-old', '/']),
      '/docs/fees': page('Fees', 'A knot transfer costs two euros.'),
      '/docs-old': page('Old', 'This is the former documentation.'),
      '/': page('Home', 'This is the rest of the site.'),
    });
    expect((await crawler.crawl(`${site.url}/docs/`)).status).toBe('completed');
    expect(await titles()).toEqual(['Docs', 'Fees']);
  });
});

describe('a page', () => {
  it('the text of collapsed sections and tabs answers questions, and a question heading alone is never an answer', async () => {
    const site = await siteOf({
      '/': `<title>Questions</title><main><h1>Questions</h1>
        <h3><button aria-controls="s1">What is the overdraft rate?</button></h3>
        <div id="s1" aria-hidden="true"><p>The overdraft rate is 9.9 percent.</p></div>
        <div role="tablist"><button role="tab">Hamburg</button></div>
        <div role="tabpanel" id="t1" hidden><p>The Hamburg branch opens at 10.</p></div>
        <h3>What is the dormancy charge?</h3><div style="display:none">Nobody opens this.</div></main>`,
    });
    expect((await crawler.crawl(site.url)).status).toBe('completed');
    expect(await crawler.answer('What is the overdraft rate?')).toContain('9.9 percent');
    expect(await crawler.answer('When does the Hamburg branch open?')).toContain('opens at 10');
    expect(await crawler.answer('What is the dormancy charge?')).toContain('could not find anything');
  });
});

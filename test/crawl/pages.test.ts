/**
 * Reading HTML pages in the real processes: the content of ordinary and careless pages, hostile pages that harm only
 * themselves, and processes that are reused, replaced and ended.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import iconv from 'iconv-lite';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createPages, type PageContent, type PageInput, type Pages } from '../../clients/crawl/site/pages.ts';
import { parseDirectives } from '../../clients/crawl/site/pages/robots.ts';
import { Unreadable, type UnreadableReason } from '../../models/rules/base/unreadable.ts';

jest.setTimeout(180_000);

const url = 'https://bank.example/help/page?id=1';
const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/pages/${name}.html`, import.meta.url));

let pages: Pages;
beforeAll(() => {
  // The time limit is generous, because machines may be busy. Other tests cover the limits.
  pages = createPages({ timeoutMs: 100_000, agent: 'SupportBot' });
});
afterAll(() => pages.close());

const read = (body: Buffer | string, input: Partial<PageInput> = {}): Promise<PageContent> =>
  pages.read({ url, ...input, body: Buffer.from(body) });
const textOf = ({ chunks }: PageContent): string =>
  chunks.map(({ heading, text }) => `[${heading}]\n${text}`).join('\n');
const urlsOf = ({ links }: PageContent): string[] => links.map((link) => link.url);
const reasonOf = (reading: Promise<unknown>): Promise<UnreadableReason | 'read'> =>
  reading.then(
    () => 'read' as const,
    (error: unknown) => {
      if (error instanceof Unreadable) return error.reason;
      throw error;
    },
  );

/** Polls until the condition holds; only the test's own timeout ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(10);
}
const running = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
const onLinux = existsSync(`/proc/${process.pid}/task/${process.pid}/children`) ? it : it.skip;
/** The ids of processes that `work` started and that still run after it. */
async function startedBy(work: () => Promise<unknown>): Promise<number[]> {
  const before = new Set(childrenOf(process.pid));
  await work();
  return childrenOf(process.pid).filter((pid) => !before.has(pid) && running(pid));
}

describe('the main text', () => {
  it('an article without landmarks yields the text under its headings, without the site’s boilerplate', async () => {
    const page = await read(fixture('article'));
    const text = textOf(page);
    expect(page).toMatchObject({ title: 'Losing a card abroad | Lindenbank', language: 'en-GB', empty: false });
    expect(page.canonical).toBe('https://bank.example/help/lost-card');
    expect(text).toContain('[Losing a card abroad]\nA lost card is a nuisance at home');
    expect(text).toContain('[Losing a card abroad > Block the card]\nCall +49 30 5550 116');
    expect(text).toContain('\n2. Note the ten digits of the reference.');
    expect(text).not.toMatch(/cookies|Home|Most read|imprint|track|color|editors|praise|Decoration/);
  });

  it('an FAQ yields each question with its answer, including collapsed answers and buttons in headings', async () => {
    const page = await read(fixture('faq'));
    expect(page.language).toBe('de');
    expect(textOf(page)).toBe(
      [
        '[Häufige Fragen]',
        'Wie ändere ich meine Adresse?\nIn der App unter Profil, Adresse. Die Änderung gilt sofort.\n',
        'Was kostet das Konto?\nDas Konto Start kostet 4,90 EUR im Monat.\n',
        'Kann ich Bargeld einzahlen?\nJa, an jedem Automaten mit dem grünen Zeichen.',
        '[Häufige Fragen > Wie lange dauert eine Überweisung?]',
        'Höchstens einen Bankarbeitstag.',
      ].join('\n'),
    );
  });

  it('a page inside a form yields table rows with their column names, without form controls', async () => {
    expect(textOf(await read(fixture('fees')))).toBe(
      '[Cards > Price list]\nCard: Gold; Per year: 59 EUR; Abroad: 1.75%\nCard: Debit; Per year: free; Abroad: 2%',
    );
  });

  it('documentation yields notes and code, without navigation, breadcrumbs and table of contents', async () => {
    const page = await read(fixture('docs'), { url: 'https://bank.example/old' });
    expect(textOf(page)).toBe(
      '[Webhooks]\nWe call your address whenever a payment changes.\n\nAnswer within 5 seconds.\n' +
        '[Webhooks > Signature]\nCompare the header with your own result:\n\nconst mine = hmac(secret, body);\ncheck(mine);',
    );
    expect(urlsOf(page)).toEqual([
      'https://docs.bank.example/v2/intro',
      'https://docs.bank.example/v2/webhooks',
      'https://docs.bank.example/',
    ]);
  });

  it('unclosed and misnested HTML yields what a browser shows', async () => {
    const page = await read(fixture('broken'));
    expect(page.title).toBe('Old page');
    expect(textOf(page)).toContain("Monday to Friday\n\n9 to 18 o'clock & by appointment &bogus; Contact");
    expect(textOf(page)).toContain('- Potsdam\n- Berlin');
    expect(textOf(page)).not.toContain('document.write');
    expect(urlsOf(page)).toEqual(['https://bank.example/contact']);
  });

  it('a page’s struck-out text is dropped, and its superscripts are not glued to numbers', async () => {
    const page = await read(
      '<main><h1>Price per m<sup>2</sup></h1><p><del>It costs 59 EUR.</del> It costs <s>55</s> 49<sup>1</sup> EUR.</p></main>',
    );
    expect(textOf(page)).toBe('[Price per m²]\nIt costs 49¹ EUR.');
  });

  describe('hidden parts', () => {
    const hiddenIn = async (control: string, panel: string): Promise<string> =>
      textOf(await read(`<main><h1>Help</h1><p>Shown.</p>${control}${panel}</main>`));
    const panel = '<div id="a" hidden><p>Folded.</p></div>';

    it.each<[string, string, string]>([
      ['aria-controls', '<h3><button aria-controls="x a">Q</button></h3>', panel],
      ['aria-controls behind it', '', `${panel}<button aria-controls="a">Q</button>`],
      ['data-bs-target', '<button data-bs-toggle="collapse" data-bs-target="#a">Q</button>', panel],
      ['a link', '<a href="#a">Q</a>', panel],
      ['aria-hidden', '<button aria-controls="a">Q</button>', '<div id="a" aria-hidden="true">Folded.</div>'],
      ['display: none', '<button aria-controls="a">Q</button>', '<div id="a" style="display: none">Folded.</div>'],
      ['a tab panel', '', '<div id="a" role="tabpanel" hidden>Folded.</div>'],
      ['a region', '', '<div id="a" role="region" hidden>Folded.</div>'],
      ['one in another', '<a href="#a">Q</a><a href="#b">R</a>', '<div id=a hidden><p id=b hidden>Folded.</p></div>'],
    ])('a hidden part of a page is read when a control opens it: %s', async (_label, control, part) => {
      expect(await hiddenIn(control, part)).toContain('Folded.');
    });

    it.each<[string, string, string]>([
      ['no control names it', '<button aria-controls="b">Q</button><a href="#">R</a>', panel],
      ['it has no id', '', '<div role="tabpanel" hidden>Folded.</div>'],
      ['it stands in a part that stays hidden', '<a href="#a">Q</a>', `<div hidden>${panel}</div>`],
      ['it stays hidden within an opened part', '<a href="#a">Q</a>', '<div id="a" hidden><p hidden>Folded.</p></div>'],
      ['it is a template', '<a href="#a">Q</a>', '<template id="a">Folded.</template>'],
      ['it is a menu', '<a href="#a">Q</a>', '<div id="a" hidden><a href="/x">Folded.</a></div>'],
      ['it is a cookie banner', '<a href="#a">Q</a>', '<div id="a" class="cookie-banner" hidden>Folded.</div>'],
    ])('a hidden part of a page is dropped when %s', async (_label, control, part) => {
      const text = await hiddenIn(control, part);
      expect(text).toContain('Shown.');
      expect(text).not.toContain('Folded.');
    });
  });

  it('a table cell that spans rows and columns is repeated in each of them, and other cells keep their column names', async () => {
    const table = `<table><thead><tr><th>Service</th><th>Price</th><th>Abroad</th></tr></thead>
      <tbody><tr><td rowspan="2">Transfer</td><td>1.10 EUR</td><td>2 EUR</td></tr><tr><td colspan="2">7.70 EUR at once</td></tr>
      <tr><td colspan="3">Since June</td></tr><tr><td>Statement</td><td>2.20 EUR</td></tr></tbody></table>`;
    const expected =
      'Service: Transfer; Price: 1.10 EUR; Abroad: 2 EUR\n' +
      'Service: Transfer; Price: 7.70 EUR at once; Abroad: 7.70 EUR at once\n' +
      'Service: Since June\nService: Statement; Price: 2.20 EUR';
    expect(textOf(await read(`<main>${table}</main>`))).toContain(expected);
    // The table is read in the same way on a page whose main text Readability has to find.
    const words = '<p>A sentence about fees, of which there are many, and of what they are for.</p>'.repeat(40);
    expect(textOf(await read(`<div class="post">${words}${table}${words}</div>`))).toContain(expected);
  });

  it.each([
    [
      'a title above the names',
      '<thead><tr><th colspan=2>Fees 2026</th></tr><tr><th>Card</th><th>Fee</th></tr></thead><tr><td>Gold</td><td>10 EUR</td></tr>',
      'Card: Gold; Fee: 10 EUR',
    ],
    [
      'names in the first column',
      '<tr><th scope=row>Phone</th><td>+49 381 1</td></tr><tr><th scope=row>Mail</th><td>a@b.example</td></tr>',
      'Phone: +49 381 1\nMail: a@b.example',
    ],
  ])('a table with %s gets the right column names', async (_label, rows, expected) => {
    const table = `<table>${rows}</table>`;
    expect(textOf(await read(`<main>${table}</main>`))).toContain(expected);
    const words = '<p>A sentence about fees, of which there are many, and of what they are for.</p>'.repeat(40);
    expect(textOf(await read(`<div class="post">${words}${table}${words}</div>`))).toContain(expected);
  });

  describe('class names of boilerplate within the main part', () => {
    // The examples are markup of common site generators. Those of the second list were written after the rules, and no
    // rule was changed for them.
    const body = '<p>Opening words of the page, which say what it is all about, in one sentence or two.</p>'.repeat(3);
    const site = (main: string): string =>
      `<body><div class="cookie-banner">We use cookies to make your visit better for you.</div><nav>Home</nav><div class="sidebar">Most read pages of the week</div><main><h1>Help</h1>${body}${main}</main><footer>Imprint</footer></body>`;

    it.each<[string, string, string[]]>([
      [
        'Sphinx: a section named by its heading',
        '<section id="sharing-with-family"><h2>Sharing<a class="headerlink" href="#sharing-with-family">¶</a></h2><p>Five people may.</p></section>',
        ['Help > Sharing', 'Five people may.'],
      ],
      [
        'docutils: headings that lead back to the contents',
        '<h2><a class="toc-backref" href="#id1">Fees</a></h2><p>A card is free.</p>',
        ['Help > Fees', 'A card is free.'],
      ],
      [
        'docutils: the heading itself',
        '<h2 class="toc-backref">Fees</h2><p>A card is free.</p>',
        ['Help > Fees', 'A card is free.'],
      ],
      [
        'a link within a sentence',
        '<p>Fill in <a class="popup" href="/form">the form</a> and sign it.</p>',
        ['Fill in the form and sign it.'],
      ],
      [
        'a help centre: complaints',
        '<div id="comments-and-complaints"><h2>Complaints</h2><p>Write to us.</p></div>',
        ['Help > Complaints', 'Write to us.'],
      ],
      // The second list begins here.
      [
        'MkDocs',
        '<h2 id="cookies">Cookies<a class="headerlink" href="#cookies" title="Permanent link">#</a></h2><p id="cookies">We set two.</p>',
        ['Help > Cookies', 'We set two.'],
      ],
      [
        'Docusaurus',
        '<h2 class="anchor" id="social">Social login<a href="#social" class="hash-link" aria-label="Direct link to Social login">\u200b</a></h2><p>Use any of three.</p>',
        ['Help > Social login', 'Use any of three.'],
      ],
      [
        'WordPress',
        '<div class="entry-content newsletter"><h3>Newsletter</h3><p>It comes once a month and can be ended at any time.</p></div>',
        ['Help > Newsletter', 'It comes once a month'],
      ],
      [
        'GitBook',
        '<div class="modal"><h3><a href="#m"><svg></svg>Link to this heading</a><span>Modes</span></h3><p>There are two of them, and both are free of charge for all.</p></div>',
        ['Help > Modes', 'There are two of them'],
      ],
      [
        'a definition list',
        '<dl><dt id="share">share<a class="headerlink" href="#share">🔗</a></dt><dd>What one holds of a fund.</dd></dl>',
        ['share\nWhat one holds of a fund.'],
      ],
    ])('content whose class names look like boilerplate is kept: %s', async (_label, main, expected) => {
      const text = textOf(await read(site(main)));
      for (const part of expected) expect(text).toContain(part);
      expect(text).not.toMatch(/[¶#🔗]|Link to this|We use cookies|Most read|Imprint|\bHome\b/u);
    });

    it.each([
      [
        'share links',
        '<ul class="share"><li><a href="/f">On one network</a></li><li><a href="/t">On another</a></li></ul>',
      ],
      [
        'share buttons',
        '<div class="social-share"><span>Share</span><button>On one network</button><button>On another</button></div>',
      ],
      ['contents', '<div class="toc"><p>Contents</p><ul><li><a href="#a">On one network</a></li></ul></div>'],
      ['breadcrumbs', '<div class="breadcrumbs"><a href="/">On one network</a> / Help</div>'],
      ['navigation', '<nav><p>On one network you can find us, and on others, every day.</p></nav>'],
    ])('boilerplate within the main part is removed: %s', async (_label, main) => {
      expect(textOf(await read(site(main)))).not.toMatch(/one network|another/);
    });
  });

  it('an application page without text is marked as to be rendered (`empty`), and a short page without scripts is not', async () => {
    expect(await read(fixture('app'))).toMatchObject({ title: 'Help', chunks: [], textLength: 0, empty: true });
    expect(await read('<div id="app"></div>')).toMatchObject({ empty: true });
    expect(await read('<title>Note</title><p>Closed on Monday.</p>')).toMatchObject({ empty: false, textLength: 17 });
    expect(await read('')).toMatchObject({ title: '/help/page', chunks: [], links: [], empty: false });
  });
});

describe('the encoding of a page', () => {
  const japanese = '<main><h1>カードの紛失</h1><p>すぐに電話してください</p></main>';
  const german = '<p>Für Überweisungen größer als 5 € gilt: „nächster Bankarbeitstag“.</p>';
  const sentence = 'Für Überweisungen größer als 5 € gilt: „nächster Bankarbeitstag“.';

  it('a UTF-8 page with Arabic text is decoded', async () => {
    const page = await read(fixture('arabic'));
    expect(page).toMatchObject({ title: 'مركز المساعدة', language: 'ar' });
    expect(textOf(page)).toContain('[فقدان البطاقة]\nاتصل بنا فورا على الرقم 116');
  });

  it.each<[string, Buffer, string | undefined]>([
    ['Shift_JIS by <meta>', iconv.encode(`<meta charset="x-sjis">${japanese}`, 'shift_jis'), undefined],
    ['Shift_JIS by header, against <meta>', iconv.encode(`<meta charset=utf-8>${japanese}`, 'shift_jis'), 'Shift_JIS'],
    [
      'EUC-JP by http-equiv',
      iconv.encode(`<meta http-equiv="Content-Type" content="text/html; charset=euc-jp">${japanese}`, 'euc-jp'),
      undefined,
    ],
    [
      'UTF-16 with a mark, against the header',
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(japanese, 'utf16le')]),
      'utf-8',
    ],
    ['UTF-8 that the server calls latin1', Buffer.from(japanese), 'iso-8859-1'],
    ['UTF-8 that XML calls UTF-16', Buffer.from(`<?xml version="1.0" encoding="utf-16"?>${japanese}`), undefined],
  ])('the encoding of a page is detected: %s', async (_label, body, charset) => {
    const page = await read(body, charset === undefined ? {} : { contentType: `text/html; charset="${charset}"` });
    expect(textOf(page)).toBe('[カードの紛失]\nすぐに電話してください');
  });

  it.each<[string, string | undefined]>([
    ['without a declaration', undefined],
    ['declared as latin1', 'text/html;charset=latin1'],
    ['declared as UTF-8', 'text/html; charset=utf-8'],
    ['declared as something unknown', 'text/html; charset=klingon'],
  ])('a page in windows-1252 %s is decoded correctly', async (_label, contentType) => {
    const page = await read(iconv.encode(german, 'windows-1252'), contentType === undefined ? {} : { contentType });
    expect(page.chunks[0]?.text).toBe(sentence);
  });

  it('one broken character does not change the encoding of a page', async () => {
    const body = Buffer.concat([Buffer.from(german), Buffer.from([0xe2, 0x82])]);
    expect((await read(body, { contentType: 'text/html; charset=utf-8' })).chunks[0]?.text).toContain(sentence);
  });
});

describe('the metadata of a page', () => {
  it.each<[string, string, string | undefined, { noindex: boolean; nofollow: boolean }]>([
    ['nothing', '', undefined, { noindex: false, nofollow: false }],
    ['noindex', '<meta name="ROBOTS" content="NOINDEX">', undefined, { noindex: true, nofollow: false }],
    ['none', '<meta name=robots content=none>', undefined, { noindex: true, nofollow: true }],
    [
      'noindex for our crawler alone',
      '<meta name=supportbot content=noindex>',
      undefined,
      { noindex: true, nofollow: false },
    ],
    [
      'noindex for another crawler',
      '<meta name=otherbot content=noindex>',
      undefined,
      { noindex: false, nofollow: false },
    ],
    ['nofollow in the header', '', 'noarchive, nofollow', { noindex: false, nofollow: true }],
    [
      'one in the page and one in the header',
      '<meta name=robots content=nofollow>',
      'noindex',
      { noindex: true, nofollow: true },
    ],
  ])('the robots directives of a page are read: %s', async (_label, meta, robotsTag, expected) => {
    const body = `<title>T</title>${meta}<p>Some text.</p><a href="/next">Next</a>`;
    const page = await read(body, robotsTag === undefined ? {} : { robotsTag });
    expect(page).toMatchObject(expected);
    expect(page.chunks).toHaveLength(expected.noindex ? 0 : 1);
    expect(urlsOf(page)).toEqual(expected.nofollow ? [] : ['https://bank.example/next']);
  });

  it.each<[string, boolean, boolean]>([
    ['noindex', true, false],
    ['otherbot: noindex, nofollow', false, false],
    ['otherbot: noindex, supportbot: nofollow', false, true],
    ['nofollow, otherbot: noindex', false, true],
    ['unavailable_after: 25 Jun 2030 15:00:00 PST, noindex', true, false],
    ['max-snippet: 20, none', true, true],
    ['noindexing', false, false],
  ])('the header X-Robots-Tag: %s is read as noindex %s and nofollow %s', (value, noindex, nofollow) => {
    expect(parseDirectives(value, 'supportbot')).toEqual({ noindex, nofollow });
  });

  it('a crawler’s name in one X-Robots-Tag header does not apply to the next header', () => {
    const read = (...headers: string[]) => parseDirectives(headers.join('\n'), 'supportbot');
    expect(read('otherbot: noarchive', 'noindex')).toEqual({ noindex: true, nofollow: false });
    expect(read('otherbot: noindex, nofollow', 'noarchive')).toEqual({ noindex: false, nofollow: false });
    expect(read('noindex', 'otherbot: nofollow')).toEqual({ noindex: true, nofollow: false });
  });

  it.each<[string, string | undefined]>([
    ['0; url=/en/', 'https://bank.example/en/'],
    ["0;URL='/en/?a=1;b'", 'https://bank.example/en/?a=1;b'],
    ['"0"', undefined],
    ['5', undefined],
    ['5 , url = "en"', 'https://bank.example/help/en'],
    ['0.5;https://other.example/', 'https://other.example/'],
    ['30; url=/en/', undefined],
    ['0; url=javascript:alert(1)', undefined],
  ])('a meta refresh of %s leads to %s (undefined: it is ignored)', async (content, refresh) => {
    const escaped = content.replaceAll('"', '&quot;');
    const page = await read(`<meta http-equiv="Refresh" content="${escaped}"><p>Please wait.</p>`);
    expect(page.refresh).toBe(refresh);
  });

  it('a meta refresh inside <noscript> or <template> is ignored', async () => {
    const refresh = '<meta http-equiv="refresh" content="0; url=/plain">';
    for (const html of [`<noscript>${refresh}</noscript>`, `<template>${refresh}</template>`])
      expect((await read(`${html}<p>Text.</p>`)).refresh).toBeUndefined();
  });

  it('the links of a page are unique absolute http(s) URLs without fragments, and nofollow only if all occurrences are', async () => {
    const page = await read(`
      <a href="a">1</a><a href="/help/a#part">2</a><a href="#part">3</a><a href="mailto:a@b.example">4</a>
      <a href="javascript:alert(1)">5</a><a href="file:///etc/passwd">6</a><a href=" //other.example/b ">7</a>
      <a href="c" rel="ugc NoFollow">8</a><a href="d" rel=nofollow>9</a><a href="d">10</a><a href="http://[bad">11</a>
      <map><area href="e"></map><template><a href="f">12</a></template><div hidden><a href="g">13</a></div>
      <a href="/${'x'.repeat(3_000)}">14</a>`);
    expect(page.links).toEqual([
      { url: 'https://bank.example/help/a', nofollow: false },
      { url: 'https://other.example/b', nofollow: false },
      { url: 'https://bank.example/help/c', nofollow: true },
      { url: 'https://bank.example/help/d', nofollow: false },
      { url: 'https://bank.example/help/e', nofollow: false },
      { url: 'https://bank.example/help/g', nofollow: false },
    ]);
  });
});

describe('the content hash', () => {
  const page = (nonce: string, body: string): string =>
    `<!doctype html><html lang="en"><head><title>Fees</title><script nonce="${nonce}">at("${nonce}")</script></head>
     <body data-built="${nonce}"><main><h1>Fees</h1>${body}</main><!-- ${nonce} --></body></html>`;
  const hash = async (html: string): Promise<string> => (await read(html)).contentHash;

  it('the content hash of a page stays the same when only nonces, scripts, comments, attributes, URLs or blanks change', async () => {
    const one = await hash(page('a1', '<p class="x">The card costs <a href="/c?s=1">59 EUR</a>.</p>'));
    const two = await hash(page('b2', '\n <p id="y">The   card\n costs <a href="/c?s=2">59 EUR</a>.</p>\n'));
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(two).toBe(one);
  });

  it('the content hash of a page changes with a word, a heading, a table cell or the title', async () => {
    const table = (value: string): string =>
      `<table><tr><th>Card</th><th>Fee</th></tr><tr><td>Gold</td><td>${value}</td></tr></table>`;
    const variants = [
      page('a', '<p>The card costs 59 EUR.</p>'),
      page('a', '<p>The card costs 95 EUR.</p>'),
      page('a', '<h2>The card costs 59 EUR.</h2>'),
      page('a', table('59')),
      page('a', table('95')),
      page('a', '<p>The card costs 59 EUR.</p>').replace('<title>Fees', '<title>Prices'),
    ];
    const hashes = await Promise.all(variants.map(hash));
    expect(new Set(hashes).size).toBe(variants.length);
  });
});

describe('hostile pages', () => {
  it('a page with 100,000 links yields the first 5,000', async () => {
    const links = Array.from({ length: 100_000 }, (_, at) => `<a href="/day/${at}">${at}</a>`).join('\n');
    const page = await read(`<p>Calendar</p>${links}`);
    expect(page.links).toHaveLength(5_000);
    expect(page.links[4_999]?.url).toBe('https://bank.example/day/4999');
  });

  it('a page with links of 1,900 characters yields at most 200,000 characters of links', async () => {
    const links = Array.from({ length: 2_600 }, (_, at) => `<a href="/${at}/${'x'.repeat(1_900)}">${at}</a>`);
    const taken = urlsOf(await read(`<p>Maze</p>${links.join('\n')}<a href="/short">short</a>`));
    expect(taken.length).toBeGreaterThan(100);
    expect(taken.at(-1)).toBe('https://bank.example/short');
    expect(taken.join('').length).toBeLessThanOrEqual(200_000);
  });

  it('a page is refused for table cells with enormous spans, unless each of these cells is alone in its row', async () => {
    const cell = '<td rowspan="100000" colspan="100000">x</td>';
    const rows = `<tr>${cell}<td rowspan=0>y</td><td>z</td></tr>`.repeat(20_000);
    expect(await reasonOf(read(`<table>${rows}</table>`))).toBe('too_much_text');
    const lines = '<tr><td colspan="1000">A line.</td></tr><tr><td colspan="1000"></td></tr>'.repeat(2_000);
    expect(textOf(await read(`<table>${lines}<tr><td>Fee</td><td>9 EUR</td></tr></table>`))).toContain('Fee: 9 EUR');
  });

  it('a page with elements nested 3,000 deep is read, and one with elements nested 100,000 deep is refused', async () => {
    expect(textOf(await read(`${'<div>'.repeat(3_000)}Deep text.`))).toContain('Deep text.');
    expect(await reasonOf(read(`${'<div>'.repeat(100_000)}Deep text.`))).toBe('too_deep');
  });

  it('a page of 5 MB without landmarks is read', async () => {
    const filler = 'x'.repeat(110);
    const paragraph = `<p class="${filler}">A sentence of an endless page, with a <a href="/x">link</a> in it and little else.</p>\n`;
    const page = await read(`<title>Long</title><div>${paragraph.repeat(25_000)}</div>`);
    expect(page.textLength).toBeGreaterThan(1_500_000);
    expect(page.chunks.length).toBeGreaterThan(1_000);
  });

  it('a page with too much text, or of binary data, is refused with a reason', async () => {
    expect(await reasonOf(read('A sentence of words. '.repeat(100_000)))).toBe('too_much_text');
    expect(await reasonOf(read(Buffer.from([0x25, 0x50, 0x44, 0x46, 0, 1, 2, 3, 0])))).toBe('binary');
  });
});

describe('processes that read pages', () => {
  const small = (text: string): { url: string; body: Buffer } => ({ url, body: Buffer.from(`<p>${text}</p>`) });
  const endless = { url, body: Buffer.from(`<p>${'A short sentence, and a link. '.repeat(120_000)}</p>`) };

  onLinux('one reader process reads page after page, in the order in which they came', async () => {
    const own = createPages({ timeoutMs: 100_000 });
    const texts = Array.from({ length: 20 }, (_, at) => `Page ${at}.`);
    const finished: string[] = [];
    const started = await startedBy(() =>
      Promise.all(
        texts.map(async (text) => {
          const { chunks } = await own.read(small(text));
          finished.push(chunks[0]?.text ?? '');
        }),
      ),
    );
    expect(finished).toEqual(texts);
    expect(started).toHaveLength(1);
    expect(await startedBy(() => own.read(small('And after.')))).toEqual([]);
    await own.close();
    expect(started.filter(running)).toEqual([]);
  });

  onLinux('a reader process is replaced after its maximum number of pages', async () => {
    const own = createPages({ pagesPerProcess: 2 });
    const first = await startedBy(() => own.read(small('One.')));
    await own.read(small('Two.'));
    await until(() => !first.some(running));
    const second = await startedBy(() => own.read(small('Three.')));
    expect([first.length, second.length]).toEqual([1, 1]);
    await own.close();
  });

  onLinux('an idle reader process is replaced when it holds too much memory', async () => {
    const own = createPages({ restingMb: 1 });
    for (const text of ['One.', 'Two.']) {
      const started = await startedBy(() => own.read(small(text)));
      await until(() => !started.some(running));
    }
    await own.close();
  });

  onLinux('a reader process without work ends by itself', async () => {
    const own = createPages({ idleMs: 1 });
    const started = await startedBy(() => own.read(small('One.')));
    await until(() => !started.some(running));
    expect((await own.read(small('Two.'))).textLength).toBe(4);
    await own.close();
  });

  onLinux('a page that takes too long fails with timed_out, and other pages are read', async () => {
    const own = createPages({ timeoutMs: 300, size: 1 });
    // On a busy machine, such a short limit may need several attempts.
    const readSmall = async (): Promise<void> => {
      let result: unknown;
      while ((result = await reasonOf(own.read(small('Still here.')))) !== 'read') expect(result).toBe('timed_out');
    };
    const started = await startedBy(readSmall);
    // A stopped process answers nothing, however fast the machine is.
    for (const pid of started) process.kill(pid, 'SIGSTOP');
    expect(await reasonOf(own.read(small('Hanging.')))).toBe('timed_out');
    await readSmall();
    await own.close();
  });

  it('a page that exceeds the memory limit fails with out_of_memory, and the pages queued behind it are read', async () => {
    const own = createPages({ timeoutMs: 100_000, memoryMb: 170 });
    const bomb = { url, body: Buffer.from('<b>x<i>y</i></b>'.repeat(700_000)) };
    const [first, second, third] = await Promise.all([
      reasonOf(own.read(small('One.'))),
      reasonOf(own.read(bomb)),
      own.read(small('Three.')),
    ]);
    expect([first, second, third.textLength]).toEqual(['read', 'out_of_memory', 6]);
    await own.close();
  });

  it('the caller’s signal ends the reading of a running and of a queued page, with the signal’s reason', async () => {
    const own = createPages({ timeoutMs: 100_000 });
    const abort = new AbortController();
    const reading = own.read(endless, { signal: abort.signal });
    const waiting = own.read(small('One.'), { signal: abort.signal });
    const other = own.read(small('Two.'));
    await delay(0);
    abort.abort(new Error('shutting down'));
    await expect(reading).rejects.toThrow('shutting down');
    await expect(waiting).rejects.toThrow('shutting down');
    expect((await other).textLength).toBe(4);
    await own.close();
  });

  onLinux('after an idle reader process is killed, another reader process reads the next page', async () => {
    const own = createPages();
    const [pid] = await startedBy(() => own.read(small('One.')));
    if (pid === undefined) throw new Error('no reader was started');
    process.kill(pid, 'SIGKILL');
    await until(() => !existsSync(`/proc/${pid}`));
    expect((await own.read(small('Two.'))).textLength).toBe(4);
    await own.close();
  });

  onLinux('close() ends idle reader processes, running pages and queued pages', async () => {
    const own = createPages({ size: 2 });
    const readings: Promise<unknown>[] = [];
    const started = await startedBy(async () => {
      readings.push(
        ...[endless, endless, small('One.')].map((page) => own.read(page).catch((error: unknown) => error)),
      );
      await delay(0);
    });
    expect(started).toHaveLength(2);
    await own.close();
    expect(started.filter(running)).toEqual([]);
    for (const error of await Promise.all(readings))
      expect(error).toMatchObject({ message: expect.stringMatching(/closed/) });
    await expect(own.read(small('One.'))).rejects.toThrow('closed');
  });
});

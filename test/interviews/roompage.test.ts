/**
 * The interview room's page in a real Chromium, against the real API and workers: an interview from creation to
 * decision, by keyboard, with an unreliable connection, narrow and wide, light and dark. With ROOM_SCREENSHOTS set,
 * writes the pictures of docs/room.md to that folder.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer';
import { failOnce, startChromium, visit, wireTo } from '../kit/chromium.ts';
import { until } from '../kit/harness.ts';
import { goodAnswer, interviewing } from '../kit/interviewing.ts';
import { systemEnv } from '../kit/processes.ts';

const kit = await interviewing(systemEnv('shared'));
const { api } = kit;
const org = await api.newOrg();
const mine = kit.of(org);
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const cleanups: (() => Promise<unknown>)[] = [];
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium(process.env['TEST_CHROMIUM']!);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(async () => {
  await browser.close();
  await kit.close();
});

type Size = { width: number; height: number };
const phone: Size = { width: 390, height: 780 };
const wide: Size = { width: 1200, height: 800 };

async function open(link: string, size: Size, url = api.url): Promise<Page> {
  const { page, context } = await visit(browser, `${url}/rooms/${link.split('/').at(-1)}`, size);
  cleanups.push(() => context.close());
  return page;
}
const body = (page: Page) => page.evaluate('document.querySelector("main").innerText') as Promise<string>;
const shows = (page: Page, words: string) =>
  until(async () => (await body(page)).includes(words), `the page to show ${JSON.stringify(words)}`);
const press = async (page: Page, selector: string) =>
  (await page.waitForSelector(selector, { visible: true }))!.click();
async function say(page: Page, words: string): Promise<void> {
  const input = (await page.waitForSelector('textarea', { visible: true }))!;
  await input.type(words);
  await input.press('Enter');
}
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['ROOM_SCREENSHOTS'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}
async function faultsOf(page: Page): Promise<unknown> {
  // Evaluates axe's source, because the page's content security policy blocks foreign script files.
  await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ failureSummary }) => failureSummary)]))",
  );
}
const overflows = (page: Page) => page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
const linksOf = async (id: string) => (await mine.call('POST', `/${id}/start`)).body.data.room;

const questions = ['Which service did you build last?', 'How did you test it?', 'What would you change today?'].map(
  (text) => ({ category: 'technical', body: text }),
);

describe('an interview on the page', () => {
  it('an interview on the room page goes from creation to decision on a phone', async () => {
    const id = await mine.create({
      role_title: 'Backend Engineer',
      questions,
      candidate_name: 'Ada',
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await mine.reached(id, 'scheduled');
    const { candidate_url } = await linksOf(id);
    const page = await open(candidate_url, phone);
    await shows(page, 'You are speaking with an AI');
    await shows(page, 'is recorded as text');
    expect(await overflows(page)).toBe(false);
    await picture(page, 'room-consent');
    await press(page, '.agree');
    for (const [index, question] of questions.entries()) {
      await shows(page, question.body);
      await shows(page, `Question ${index + 1} of 3`);
      if (index === 1) await picture(page, 'room-phone');
      await say(page, goodAnswer(index + 1));
    }
    await shows(page, 'All questions are answered. Thank you for your time.');
    expect(await page.$('textarea:not([hidden])').then((found) => found?.isVisible())).toBe(false);
    await mine.reached(id, 'evaluating');
    await until(async () => (await mine.call('GET', `/${id}`)).body.data.qa_summary ?? undefined, 'phase 1');
    const scored = await mine.call('POST', `/${id}/generate-score`);
    expect(scored.body.data).toMatchObject({ status: 'completed', evaluation: { overall_score: expect.any(Number) } });
    const decided = await mine.call('PUT', `/${id}/decision`, { decision: 'next_round', notes: 'Good.' });
    expect(decided.body.data.decision).toMatchObject({ decision: 'next_round' });
    await page.reload();
    await shows(page, 'This link is not valid, or the interview is over.');
  });

  it('an interview on the room page works by keyboard alone, and loses nothing when the connection breaks', async () => {
    const id = await mine.create({ role_title: 'Backend Engineer', questions });
    const { candidate_url } = await linksOf(id);
    const wire = await wireTo(api.url);
    cleanups.push(() => wire.close());
    const page = await open(candidate_url, wide, wire.url);
    const focused = () => page.evaluate('document.activeElement?.textContent') as Promise<string>;
    await shows(page, 'You are speaking with an AI');
    await until(async () => {
      await page.keyboard.press('Tab');
      return (await focused()) === 'I agree, begin';
    }, 'the focus to reach the button');
    await page.keyboard.press('Enter');
    await shows(page, questions[0]!.body);
    wire.cut();
    await shows(page, 'The connection was lost');
    await until(async () => {
      await page.keyboard.press('Tab');
      return (await page.evaluate('document.activeElement?.tagName')) === 'TEXTAREA';
    }, 'the focus to reach the field');
    await page.keyboard.type('Written while ');
    // In Safari, an Enter that confirms a word of an input method comes after the composition.
    await page.evaluate(
      "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true }))",
    );
    await page.keyboard.type('the connection was gone.');
    await page.keyboard.press('Enter');
    await shows(page, 'Not sent yet');
    wire.mend();
    await shows(page, questions[1]!.body);
    expect(await body(page)).not.toContain('Not sent yet');
    const { transcript } = (await mine.call('GET', `/${id}`)).body.data;
    expect(transcript.map((one: { text: string }) => one.text)).toEqual([
      questions[0]!.body,
      'Written while the connection was gone.',
      questions[1]!.body,
    ]);
  });

  it('the room page sends a consent, message or end again after the server temporarily failed to accept the frame', async () => {
    const id = await mine.create({ role_title: 'Backend Engineer', questions });
    const page = await open((await linksOf(id)).candidate_url, wide);
    await shows(page, 'You are speaking with an AI');
    await failOnce(page, 'consent');
    await press(page, '.agree');
    await shows(page, questions[0]!.body);
    await failOnce(page, 'message');
    await say(page, goodAnswer(1));
    await shows(page, questions[1]!.body);
    expect(await body(page)).not.toContain('Not sent yet');
    await failOnce(page, 'end');
    await press(page, '.end');
    await press(page, '.end');
    await shows(page, 'The candidate ended the interview.');
  });

  it('in copilot mode, only the interviewer on the room page sees the AI’s suggestions', async () => {
    const id = await mine.create({ role_title: 'Backend Engineer', questions, mode: 'copilot', candidate_name: 'Ada' });
    const { candidate_url, interviewer_url } = await linksOf(id);
    const [candidate, interviewer] = [await open(candidate_url, phone), await open(interviewer_url, wide)];
    await shows(interviewer, 'Waiting for the candidate');
    await press(candidate, '.agree');
    await shows(interviewer, 'Suggestions, for you alone');
    await shows(interviewer, questions[0]!.body);
    await say(interviewer, questions[0]!.body);
    await shows(candidate, questions[0]!.body);
    await say(candidate, goodAnswer(2));
    await shows(interviewer, 'Follow up');
    await picture(interviewer, 'room-copilot');
    expect(await body(candidate)).not.toContain('Follow up');
    await press(interviewer, '.end');
    await press(interviewer, '.end');
    await shows(candidate, 'The interviewer ended the interview.');
  });

  it('an interview on the room page is shown in the interview’s language, whatever the browser’s language', async () => {
    const id = await mine.create({ role_title: 'Buchhaltung', language: 'de', mode: 'copilot' });
    const { candidate_url, interviewer_url } = await linksOf(id);
    const [candidate, interviewer] = [await open(candidate_url, phone), await open(interviewer_url, wide)];
    await shows(interviewer, 'Wir warten, bis die eingeladene Person da ist');
    await shows(candidate, 'An diesem Interview nimmt eine KI teil');
    await shows(candidate, 'wird nichts aufgezeichnet');
    expect(await candidate.evaluate('document.documentElement.lang')).toBe('de');
    expect(await faultsOf(candidate)).toEqual([]);
    await press(candidate, '.agree');
    await shows(interviewer, 'Vorschläge, nur für Sie');
    await say(candidate, 'Hallo!');
    await shows(interviewer, 'Können Sie dafür ein konkretes Beispiel nennen?');
    for (const page of [candidate, interviewer]) {
      expect(await overflows(page)).toBe(false);
      expect(await body(page)).not.toMatch(/\b(?:the|your|interviewer|send|suggestions)\b/iu);
    }
    await press(interviewer, '.end');
    await shows(interviewer, 'Zum Beenden noch einmal drücken');
    await press(interviewer, '.end');
    await shows(candidate, 'Das Interview wurde von der interviewenden Person beendet.');
  });

  it('an interview on the room page is cancelled when the candidate declines the recording', async () => {
    const id = await mine.create({ questions });
    const page = await open((await linksOf(id)).candidate_url, phone);
    await press(page, '.decline');
    await shows(page, 'did not agree to the recording');
    await mine.reached(id, 'cancelled');
  });

  it('the room page shows every message as text, even when it contains HTML', async () => {
    const id = await mine.create({
      questions: [{ category: 'technical', body: '<img src=x onerror="document.title=1">?' }],
    });
    const page = await open((await linksOf(id)).candidate_url, wide);
    await press(page, '.agree');
    await shows(page, '<img src=x');
    expect(await page.$('main img')).toBeNull();
  });
});

describe('the room page', () => {
  it.each([
    ['light', phone],
    ['dark', phone],
    ['light', wide],
    ['dark', wide],
  ] as const)('the room page has no accessibility violation and no overflow (%s, %j)', async (scheme, size) => {
    const id = await mine.create({ role_title: 'Backend Engineer', questions });
    const page = await open((await linksOf(id)).candidate_url, size);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await shows(page, 'You are speaking with an AI');
    expect(await faultsOf(page)).toEqual([]);
    await press(page, '.agree');
    await shows(page, questions[0]!.body);
    await say(page, goodAnswer(1));
    await shows(page, questions[1]!.body);
    expect(await faultsOf(page)).toEqual([]);
    expect(await overflows(page)).toBe(false);
    if (size === wide) await picture(page, `room-${scheme}`);
  });

  it('the headers of the room page forbid referrers, foreign scripts and caching', async () => {
    const { headers, status } = await fetch(`${api.url}/rooms/${'a'.repeat(32)}`);
    expect(status).toBe(404);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'self'/u);
    expect(headers.get('cache-control')).toBe('no-store');
  });
});

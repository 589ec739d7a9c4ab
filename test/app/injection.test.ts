/** HTML and scripts in everything that others write: on the page `/app` they are text, and none runs. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'puppeteer';
import { openApp } from '../kit/apppage.ts';
import { startChromium } from '../kit/chromium.ts';
import { system, until } from '../kit/harness.ts';

const api = system();
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium(process.env['TEST_CHROMIUM']!);
});
afterAll(() => browser.close());

/** The script in each planted text. It sets `window.hacked` if it runs, at once or after a click. */
const run = 'window.hacked=1';
const planted = [
  `<script>${run}</script>`,
  `<img src=x onerror="${run}">`,
  `<svg onload="${run}">`,
  `<svg><script>${run}</script></svg>`,
  `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
  `<iframe src="javascript:parent.hacked=1"></iframe>`,
  `<a href="javascript:${run}">click</a>`,
  `[click](javascript:${run})`,
  `![x](x" onerror="${run})`,
  `<body onload="${run}">`,
  `<input autofocus onfocus="${run}">`,
  `<details open ontoggle="${run}">`,
  `<video><source onerror="${run}"></video>`,
  `<math><mi xlink:href="javascript:${run}">x</mi></math>`,
  `"><script>${run}</script>`,
  `'-${run}-'`,
  `</textarea><script>${run}</script>`,
  `</title><script>${run}</script>`,
  `<style>@import 'javascript:${run}';</style>`,
  `<object data="javascript:${run}"></object>`,
  `<form action="javascript:${run}"><button>go</button></form>`,
  `<base href="javascript:${run}//">`,
  `<template><img src=x onerror="${run}"></template>`,
  `{{constructor.constructor('${run}')()}}`,
  `<marquee onstart="${run}">x</marquee>`,
];

it('200 planted scripts in names, messages, notes, tags, session contexts, documents and replies run on no screen', async () => {
  const org = await api.newOrg();
  const { token: key } = await api.newKey(org);
  const owner = { token: org.owner.token };
  const done = async (reply: ReturnType<typeof api.request>) => {
    const { status, body } = await reply;
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  const convIds: string[] = [];
  for (const [at, text] of planted.entries()) {
    const customer = { name: text, email: `c${at}@customer.example` };
    const session = await api.newSession(org, { key, body: { customer, context: { situation: text } } });
    const path = `/support/chat/messages/${org.orgId}`;
    const { conv_id } = await done(api.request('POST', path, { token: session.token, body: { body: `${text} ?` } }));
    convIds.push(conv_id);
    const conversation = `/support/inbox/orgs/${org.orgId}/${conv_id}`;
    await done(api.request('POST', `${conversation}/notes`, { ...owner, body: { body: text } }));
    await done(api.request('PUT', `${conversation}/tags`, { ...owner, body: { tags: [text.slice(0, 40)] } }));
    const article = { name: text, text: `# ${text}\n\n${text}\n\n- ${text}` };
    await done(api.request('POST', `/orgs/${org.orgId}/documents/text`, { token: key, body: article }));
    const canned = { shortcut: `s${at}`, body: text };
    await done(api.request('POST', `/support/replies/orgs/${org.orgId}`, { ...owner, body: canned }));
  }
  // Each text is planted in eight places: name, message, situation, note, tag, title, text and reply.
  expect(planted.length * 8).toBe(200);
  const { documents } = await done(api.request('GET', `/orgs/${org.orgId}/documents?limit=100`, { token: key }));
  const app = await openApp(browser, api.url, org.owner);
  const quiet = async () => expect(await app.page.evaluate('window.hacked')).toBeUndefined();
  for (const [at, convId] of convIds.entries()) {
    const path = `/app/inbox/${convId}?box=all`;
    // The page is loaded once. So a script that runs late is noticed in the conversations that follow, too.
    if (at === 0) await app.open(path);
    else
      await app.page.evaluate(`history.pushState(null, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'));`);
    await app.shows(`${planted[at]!} ?`);
    await until(
      () =>
        app.page.evaluate(
          `[...document.querySelectorAll('.message.note')].some(({ textContent }) => textContent.includes(${JSON.stringify(planted[at])}))`,
        ),
      `the note of conversation ${at}`,
    );
    await quiet();
  }
  for (const { doc_id } of documents) {
    await app.open(`/app/knowledge/article/${doc_id}`);
    await until(async () => (await app.page.$('.drawn li')) !== null, 'the preview');
    // No link in the preview runs a script when it is clicked.
    await app.page.evaluate("document.querySelectorAll('.drawn a').forEach((link) => link.click())");
    await quiet();
  }
  for (const path of ['inbox?box=all', 'knowledge', 'knowledge/gaps', 'settings/replies', 'tools/audit']) {
    await app.open(`/app/${path}`);
    await app.page.waitForSelector('main li, main tr, main p');
    await quiet();
  }
  expect(app.faults).toEqual([]);
});

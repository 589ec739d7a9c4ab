/**
 * The page `/account`, to which links in mails lead, in a real Chromium. It works by keyboard and on a phone, and has
 * no axe violations.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'puppeteer';
import { startChromium, visit } from '../kit/chromium.ts';
import { sharedDatabase } from '../kit/database.ts';
import { system, until } from '../kit/harness.ts';
import { box } from '../kit/inbound.ts';
import { objectionToken } from '../../models/events/outsidemail.ts';
import type { Proof } from '../../models/access/user.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
const db = sharedDatabase();
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const password = 'a brand new password';
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium(process.env['TEST_CHROMIUM']!);
});
afterAll(() => browser.close());

const newLink = () => {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: createHash('sha256').update(token).digest('hex') };
};
const inAnHour = () => new Date(Date.now() + 3_600_000);

async function open(purpose: string, token: string): Promise<Page> {
  const { page } = await visit(browser, `${api.url}/account#${purpose}=${token}`, { width: 390, height: 780 });
  return page;
}
const shows = (page: Page, words: string) =>
  until(
    async () => ((await page.evaluate('document.body.innerText')) as string).includes(words),
    `the page to show ${JSON.stringify(words)}`,
  );
/** Fills the form by keyboard: Tab between the fields, Enter to submit. */
async function fill(page: Page, form: string, values: readonly string[]): Promise<void> {
  await page.focus(`${form} input:not([readonly])`);
  for (const [index, value] of values.entries()) {
    if (index > 0) await page.keyboard.press('Tab');
    await page.keyboard.type(value);
  }
  await page.keyboard.press('Enter');
}
async function faultsOf(page: Page): Promise<unknown> {
  // Evaluates axe's source, because the page's content security policy blocks foreign script files.
  await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))",
  );
}
const login = (email: string, given: string) =>
  api.request('POST', '/auth/login', { body: { email, password: given } });

async function proven(kind: Proof['kind'], email?: string) {
  const user = await api.newUser();
  const { token, hash } = newLink();
  const proof = { kind, hash, expires_at: inAnHour(), ...defined({ email }) };
  await db()
    .collection<{ _id: string; proofs: Proof[] }>('users')
    .updateOne({ _id: user.userId }, { $set: { proofs: [proof] } });
  return { user, token };
}

async function invited(email: string) {
  const org = await api.newOrg();
  const { token, hash } = newLink();
  await db()
    .collection<{ _id: string }>('invitations')
    .insertOne({
      _id: `inv_${randomUUID()}`,
      org_id: org.orgId,
      email,
      role: 'admin',
      status: 'pending',
      hash,
      link_hash: newLink().hash,
      invited_by: org.owner.userId,
      created_at: new Date(),
      expires_at: inAnHour(),
      removed_at: inAnHour(),
    } as never);
  return { org, token };
}

describe('/account', () => {
  it('the account page sets a new password through a link, and removes the token from the address bar', async () => {
    const { user, token } = await proven('password_reset');
    const page = await open('password_reset', token);
    await shows(page, 'Set a new password');
    expect(page.url()).toBe(`${api.url}/account`);
    expect(await faultsOf(page)).toEqual([]);
    await fill(page, 'form', [password]);
    await shows(page, 'The new password is set');
    expect((await login(user.email, password)).status).toBe(200);
  });

  it('the account page shows the API’s message when a link is invalid', async () => {
    const page = await open('password_reset', newLink().token);
    await fill(page, 'form', [password]);
    await shows(page, 'This link is over');
    await shows(await open('invitation', newLink().token), 'This link is over');
    await shows(await open('', ''), 'Open the link of a mail');
  });

  it('the account page confirms a new e-mail address after the user logs in', async () => {
    const fresh = `${randomUUID()}@example.com`;
    const { user, token } = await proven('email_change', fresh);
    const page = await open('email_change', token);
    await fill(page, 'form', [user.email, user.password]);
    await shows(page, 'This is the address of your account now.');
    expect((await login(fresh, user.password)).status).toBe(200);
  });

  it('the account page lets a recipient stop mails without a login', async () => {
    const orgId = `org_${randomUUID()}`;
    const token = objectionToken(box, orgId, 'ada@example.com', 'all');
    const page = await open('mail_stop', token);
    await shows(page, 'Stop mails of everybody here');
    expect(await faultsOf(page)).toEqual([]);
    await page.focus('form button');
    await page.keyboard.press('Enter');
    await shows(page, 'That organization can mail you no more.');
    const [, hash] = token.split('.');
    const objections = db().collection<{ _id: string }>('mail_objections');
    expect(await objections.countDocuments({ _id: `${orgId}:${hash}` })).toBe(1);
  });

  it('the account page offers to stop one organization alone, when that organization’s own server sent the mail', async () => {
    const token = objectionToken(box, `org_${randomUUID()}`, 'ada@example.com', 'organization');
    const page = await open('mail_stop', token);
    await shows(page, 'Stop mails of that organization');
    expect(await page.evaluate('document.querySelectorAll("form").length')).toBe(1);
  });

  it('the account page lets an invited person join with an existing or a new account', async () => {
    const fresh = `${randomUUID()}@example.com`;
    const first = await invited(fresh);
    const page = await open('invitation', first.token);
    await shows(page, 'Test Person invites you to Test Organization (role: admin).');
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false);
    await fill(page, 'form:last-of-type', ['Newcomer', password]);
    await shows(page, 'You belong to Test Organization now.');
    expect((await login(fresh, password)).body.data.organizations).toMatchObject([{ org_id: first.org.orgId }]);

    const user = await api.newUser();
    const second = await invited(user.email);
    const other = await open('invitation', second.token);
    await shows(other, 'invites you');
    await fill(other, 'form', [user.password]);
    await shows(other, 'You belong to Test Organization now.');
    expect((await login(user.email, user.password)).body.data.organizations).toMatchObject([{ role: 'admin' }]);
  });
});

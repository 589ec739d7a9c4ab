/** The hours of a team: who sets them, and which answers customers get outside them. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { system } from '../kit/harness.ts';
import { ChatClient } from '../kit/socket.ts';

const api = system();
const clients: ChatClient[] = [];
afterAll(() => clients.forEach((client) => client.drop()));

const never = { timezone: 'Europe/Berlin', week: {}, closed: [], away_message: null };
const always = [{ from: '00:00', until: '24:00' }];
const week = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, always]));
const hours = (method: string, orgId: string, token: string, body?: unknown) =>
  api.request(method, `/orgs/${orgId}/hours`, { token, ...(body === undefined ? {} : { body: { hours: body } }) });

describe('GET and PUT /orgs/{orgId}/hours', () => {
  it('admins set the team’s hours, and members see whether the team is there', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    expect((await hours('GET', org.orgId, bob.token)).body.data).toEqual({
      hours: null,
      open: true,
      next_opening: null,
    });
    const set = await hours('PUT', org.orgId, org.owner.token, { ...never, week });
    expect(set.body.data).toMatchObject({ open: true, next_opening: null });
    const monday = { ...never, week: { mon: [{ from: '00:00', until: '00:01' }] } };
    const closed = await hours('PUT', org.orgId, org.owner.token, monday);
    expect(closed.body.data.hours).toEqual(monday);
    expect((await hours('GET', org.orgId, bob.token)).body.data).toEqual(closed.body.data);
    expect((await hours('PUT', org.orgId, org.owner.token, null)).body.data).toMatchObject({ hours: null, open: true });
    expect((await hours('PUT', org.orgId, bob.token, null)).status).toBe(403);
    expect((await hours('GET', org.orgId, (await api.newUser()).token)).status).toBe(404);
  });

  it('hours with a span that ends before it begins, an unknown day, an unknown time zone or an invalid date are refused', async () => {
    const { orgId, owner } = await api.newOrg();
    for (const wrong of [
      { ...never, week: { mon: [{ from: '10:00', until: '09:00' }] } },
      { ...never, week: { someday: always } },
      { ...never, timezone: 'Mars/Phobos' },
      { ...never, closed: ['2026-02-30'] },
      { ...never, away_message: ' ' },
    ])
      expect((await hours('PUT', orgId, owner.token, wrong)).status).toBe(400);
  });
});

describe('a customer who asks for a person', () => {
  it('outside the team’s hours, a customer who asks for a person is told in their language when the team is back', async () => {
    const org = await api.newOrg();
    const { token: key } = await api.newKey(org);
    const ask = async (words: string): Promise<string> => {
      const session = await api.newSession(org, { key });
      const client = await new ChatClient(org.orgId, { sessionToken: session.token }).connect(api.url);
      clients.push(client);
      client.say(words);
      return (await client.frame('reply_end')).body;
    };
    const called = 'I have called a person from the team. They will reply here.';
    await hours('PUT', org.orgId, org.owner.token, { ...never, away_message: 'In emergencies call 112.' });
    expect(await ask('I want to talk to a human')).toBe(`${called}\n\nIn emergencies call 112.`);
    // The team next opens three days from now, and only on that weekday.
    const opens = new Date(Date.now() + 3 * 86_400_000);
    const day = (locale: string, weekday: 'short' | 'long') =>
      new Intl.DateTimeFormat(locale, { weekday, timeZone: never.timezone }).format(opens);
    const rarely = { ...never, week: { [day('en', 'short').toLowerCase()]: [{ from: '03:17', until: '03:18' }] } };
    await hours('PUT', org.orgId, org.owner.token, rarely);
    const away = await ask('I want to talk to a human');
    expect(away).toContain(`${called}\n\nThe team is not there at the moment. It is back on ${day('en', 'long')}`);
    expect(away).toContain('03:17');
    expect(await ask('Ich möchte mit einem Menschen sprechen')).toContain(`Es ist wieder da am ${day('de', 'long')}`);
    await hours('PUT', org.orgId, org.owner.token, { ...never, week });
    expect(await ask('I want to talk to a human')).toBe(called);
  });
});

/** How an organization's widget looks: who sets it, what is refused, and what everybody can read of it. */
import { describe, expect, it } from '@jest/globals';
import { system, type TestOrg } from '../kit/harness.ts';
import { pixel } from '../kit/pixel.ts';
import { accentsOf } from '../../models/rules/chat/accent.ts';

const api = system();

const of = (org: TestOrg, token = org.owner.token) => ({
  get: () => api.request('GET', `/support/widget/orgs/${org.orgId}`, { token }),
  set: (body: object) => api.request('PUT', `/support/widget/orgs/${org.orgId}`, { token, body }),
  put(name: string, content: Uint8Array<ArrayBuffer> = pixel) {
    const form = new FormData();
    form.append('file', new Blob([content]), 'picture.png');
    return api.request('PUT', `/support/widget/orgs/${org.orgId}/${name}`, { token, form });
  },
  remove: (name: string) => api.request('DELETE', `/support/widget/orgs/${org.orgId}/${name}`, { token }),
});
async function seen(org: TestOrg) {
  const keys = await api.request('GET', `/support/developer-keys/orgs/${org.orgId}/publishable-keys`, {
    token: org.owner.token,
  });
  const reply = await fetch(`${api.url}/widget/organizations/${keys.body.data.test.key}`);
  return (await reply.json()) as Record<string, unknown>;
}
const plain = {
  accent: null,
  agent_name: null,
  greetings: {},
  ask_email: 'on_escalation',
  outside: 'show',
  logo_url: null,
  avatar_url: null,
};

describe('GET and PUT /support/widget/orgs/{orgId}', () => {
  it('admins set the widget’s look, members read it, and a setting that is left out returns to its default', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    expect((await of(org).get()).body.data).toEqual({ org_id: org.orgId, ...plain });
    const greetings = { de: { greeting: 'Guten Tag!', starters: ['Wie sperre ich meine Karte?'] } };
    const look = { accent: '#0a5c36', agent_name: ' Linda ', greetings, ask_email: 'first', outside: 'hide' };
    const set = await of(org).set(look);
    expect(set.body.data).toEqual({ org_id: org.orgId, ...plain, ...look, agent_name: 'Linda' });
    expect((await of(org, bob.token).get()).body.data).toEqual(set.body.data);
    expect((await of(org, bob.token).set({})).status).toBe(403);
    expect((await of(org).set({})).body.data).toEqual({ org_id: org.orgId, ...plain });
    expect((await of(org, (await api.newUser()).token).get()).status).toBe(404);
  });

  it('a colour that is hard to read is refused, and the error names the nearest colour that is accepted', async () => {
    const org = await api.newOrg();
    const refused = await of(org).set({ accent: '#ffcc00' });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, ['body', 'accent']]);
    const nearest = /the nearest that passes is (#[0-9a-f]{6})$/.exec(refused.body.details[0].message)![1]!;
    expect((await of(org).set({ accent: nearest })).body.data.accent).toBe(nearest);
  });

  it.each([
    ['a colour by name', { accent: 'red' }],
    ['five suggested questions', { greetings: { en: { starters: ['a', 'b', 'c', 'd', 'e'] } } }],
    ['a language that the widget does not speak', { greetings: { xx: { greeting: 'Hi' } } }],
    ['an empty name', { agent_name: ' ' }],
  ])('a widget’s look with %s is refused', async (_, body) => {
    expect((await of(await api.newOrg()).set(body)).status).toBe(400);
  });
});

describe('the pictures of the widget', () => {
  it('a picture is served to every origin until it is removed, but not under another organization’s URL', async () => {
    const [org, other] = [await api.newOrg(), await api.newOrg()];
    const { logo_url: path } = (await of(org).put('logo')).body.data;
    const reply = await fetch(`${api.url}${path}`);
    expect(new Uint8Array(await reply.arrayBuffer())).toEqual(pixel);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
    expect((await fetch(`${api.url}${path.replace(org.orgId, other.orgId)}`)).status).toBe(404);
    // Setting the look leaves the pictures as they are.
    expect((await of(org).set({ agent_name: 'Linda' })).body.data).toMatchObject({ logo_url: path, avatar_url: null });
    expect((await of(org).put('avatar')).body.data).toMatchObject({ logo_url: path, avatar_url: path });
    await of(org).remove('avatar');
    expect((await of(org).remove('logo')).body.data).toMatchObject({ agent_name: 'Linda', logo_url: null });
    expect((await fetch(`${api.url}${path}`)).status).toBe(404);
  });

  it('an upload of a file that is no picture, of a picture over 100 KB or by a non-admin is refused', async () => {
    const org = await api.newOrg();
    const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    expect((await of(org).put('logo', svg)).body.code).toBe('UNSUPPORTED_FILE_TYPE');
    expect((await of(org).put('logo', Uint8Array.from([...pixel, ...Array(100_000).fill(0)]))).body.code).toBe(
      'TOO_LARGE',
    );
    expect((await of(org).put('banner')).status).toBe(404);
    expect((await of(org, (await api.join(org)).token).put('logo')).status).toBe(403);
  });
});

describe('GET /widget/organizations/{place}', () => {
  it('anybody can read the widget’s look and the team’s hours, and no other setting', async () => {
    const org = await api.newOrg();
    await of(org).set({ accent: '#0a5c36', agent_name: 'Linda' });
    expect(await seen(org)).toEqual({
      org_id: org.orgId,
      ...plain,
      accent: accentsOf('#0a5c36'),
      agent_name: 'Linda',
      open: null,
      next_opening: null,
      ask_email: expect.any(String),
    });
  });

  it('anybody can read from GET /widget/organizations whether the team is there, and when the team is back', async () => {
    const org = await api.newOrg();
    const hours = { timezone: 'Europe/Berlin', week: { mon: [{ from: '00:00', until: '00:01' }] }, closed: [] };
    const set = await api.request('PUT', `/orgs/${org.orgId}/hours`, {
      token: org.owner.token,
      body: { hours: { ...hours, away_message: null } },
    });
    const { open, next_opening } = set.body.data;
    expect(await seen(org)).toMatchObject({ open, next_opening });
  });
});

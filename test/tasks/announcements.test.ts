/**
 * Notifications about tasks and meetings: by Slack webhook, by mail, and in the app.
 * Slack is a local receiver. This system has no mail server, so mails are only stored as they would be sent.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { all, outboxOf, startReceiver, status, type Receiver } from '../kit/receiver.ts';

const api = system();
const { deliveries } = outboxOf(api);
const db = sharedDatabase();
let slack: Receiver;
beforeAll(async () => {
  slack = await startReceiver(status(200, {}, 'ok'));
});
afterAll(() => slack.close());

type Org = TestOrg & { key: string };
const webhooks = (org: TestOrg, body: Record<string, unknown>, by = org.owner) =>
  api.request('PUT', `/orgs/${org.orgId}/webhooks`, { token: by.token, body });
async function newOrg(settings: Record<string, unknown> = {}, live = true): Promise<Org> {
  const org = await api.newOrg();
  if (live) await api.goLive(org);
  const { status: code } = await webhooks(org, { slack_webhook_url: `${slack.url}/T1/B1/secret-part`, ...settings });
  expect(code).toBe(200);
  return { ...org, key: (await api.newKey(org, { mode: live ? 'live' : 'test' })).token };
}
const joined = (org: TestOrg): Promise<TestUser> => api.join(org);
const create = async (org: TestOrg, body: Record<string, unknown>, by = org.owner): Promise<string> =>
  (await api.request('POST', `/orgs/${org.orgId}/tasks`, { token: by.token, body: { title: 'Ship it', ...body } })).body
    .data.task_id;
const update = (org: TestOrg, taskId: string, body: Record<string, unknown>, by = org.owner) =>
  api.request('PUT', `/orgs/${org.orgId}/tasks/${taskId}`, { token: by.token, body });
const told = async ({ token }: TestUser, query = '') =>
  (await api.request('GET', `/me/notifications${query}`, { token })).body.data;
const said = (words: string) => slack.received.filter(({ event }) => event.text.includes(words));

describe('PUT /orgs/{orgId}/webhooks', () => {
  it('PUT …/webhooks stores the URL of the Slack webhook encrypted, and returns only its host', async () => {
    const org = await api.newOrg();
    const at = `/orgs/${org.orgId}/webhooks`;
    const read = async () => (await api.request('GET', at, { token: org.owner.token })).body.data;
    expect(await read()).toEqual({
      slack_webhook_url: null,
      email_notifications: false,
      notify_on: [
        'task_created',
        'task_assigned',
        'task_updated',
        'task_completed',
        'task_executed',
        'meeting_ended',
        'summary_ready',
        'conversation_escalated',
        'conversation_assigned',
        'customer_replied',
        'mentioned',
        'snooze_over',
        'approval_waiting',
        'delivery_failed',
      ],
    });
    const url = 'https://hooks.slack.com/services/T1/B1/very-secret';
    const { body } = await webhooks(org, { slack_webhook_url: url, notify_on: ['task_completed', 'task_created'] });
    const shown = {
      slack_webhook_url: 'https://hooks.slack.com/***',
      email_notifications: false,
      notify_on: ['task_created', 'task_completed'],
    };
    expect(body.data).toEqual(shown);
    const stored = () => db().collection<{ _id: string }>('org_webhooks').findOne({ _id: org.orgId });
    const before = await stored();
    expect(JSON.stringify(before)).not.toContain('very-secret');
    expect((await webhooks(org, { ...shown, email_notifications: true })).body.data.email_notifications).toBe(true);
    expect((await stored())!['slack_webhook_url' as never]).toBe(before!['slack_webhook_url' as never]);
    expect((await webhooks(org, { slack_webhook_url: null })).body.data.slack_webhook_url).toBeNull();
    expect(await read()).toMatchObject({ slack_webhook_url: null, email_notifications: true });
  });

  it.each<[string, Record<string, unknown>, (string | number)[]]>([
    ['an event that does not exist', { notify_on: ['task_created', 'task_deleted'] }, ['body', 'notify_on', 1]],
    ['plain http', { slack_webhook_url: 'http://hooks.slack.com/x' }, ['body', 'slack_webhook_url']],
    [
      'an address in a private network',
      { slack_webhook_url: 'https://169.254.169.254/x' },
      ['body', 'slack_webhook_url'],
    ],
    ['no address', { slack_webhook_url: 'slack' }, ['body', 'slack_webhook_url']],
    ['an unknown field', { teams: 'x' }, ['body', 'teams']],
  ])('PUT …/webhooks refuses %s with 400 naming the field', async (_, body, path) => {
    const refused = await webhooks(await api.newOrg(), body);
    expect([refused.status, refused.body.details?.[0].path]).toEqual([400, path]);
  });

  it('PUT …/webhooks requires an admin, while every member can read the settings', async () => {
    const org = await api.newOrg();
    const plain = await joined(org);
    expect((await webhooks(org, {}, plain)).status).toBe(403);
    expect((await api.request('GET', `/orgs/${org.orgId}/webhooks`, { token: plain.token })).status).toBe(200);
  });
});

describe('a change of a task', () => {
  it('a change of a task is sent to Slack in order, filtered by notify_on, without revealing the webhook’s URL', async () => {
    const org = await newOrg({ notify_on: ['task_created', 'task_assigned', 'task_completed'] });
    const bob = await joined(org);
    const title = `Order ${org.orgId}`;
    const taskId = await create(org, { title, assigned_to: bob.userId, due_date: '2026-12-01' });
    await update(org, taskId, { priority: 'high' });
    await update(org, taskId, { status: 'completed' }, bob);
    const found = await deliveries(org, all(3, 'delivered'), '&kind=notification');
    expect(found.map(({ event_type }) => event_type)).toEqual(['task_created', 'task_assigned', 'task_completed']);
    expect(said(title).map(({ event }) => event.text)).toEqual([
      `*New task* Test Person made the task “${title}”.\nDue 2026-12-01.`,
      `*Task assigned* Test Person has the task “${title}” now.\nDue 2026-12-01.`,
      `*Task completed* Test Person completed the task “${title}”.\nDue 2026-12-01.`,
    ]);
    expect(said(title)[0]!.headers['content-type']).toBe('application/json');
    expect(JSON.stringify(found)).not.toContain('secret-part');
    const stored = await db().collection('deliveries').find({ org_id: org.orgId }).toArray();
    expect(JSON.stringify(stored)).not.toContain('secret-part');
  });

  it('a change of a task is announced once, even when the process dies between the announcement and its record', async () => {
    const org = await newOrg({ notify_on: ['task_created', 'task_updated'] });
    const taskId = await create(org, { assigned_to: org.owner.userId });
    const tasks = db().collection<{ _id: string; unannounced: unknown[] }>('tasks');
    const [created] = await deliveries(org, all(1, 'delivered'));
    await until(async () => (await tasks.findOne({ _id: taskId }))!.unannounced.length === 0, 'it to be announced');
    const event = { event_id: created.event_id, type: 'task_created', at: new Date(), source: 'member' };
    await tasks.updateOne({ _id: taskId }, { $set: { unannounced: [event] } });
    await update(org, taskId, { priority: 'high' });
    const found = await deliveries(org, all(2, 'delivered'));
    expect(found.map(({ event_type }) => event_type)).toEqual(['task_created', 'task_updated']);
    await until(async () => (await tasks.findOne({ _id: taskId }))!.unannounced.length === 0, 'all to be announced');
    expect((await told(org.owner)).unread_count).toBe(1);
  });

  it('a change of a task is mailed to the members concerned when mails are enabled', async () => {
    const org = await newOrg({ slack_webhook_url: null, email_notifications: true });
    const bob = await joined(org);
    await joined(org);
    const taskId = await create(org, { assigned_to: bob.userId });
    const made = await deliveries(org, all(3, 'suppressed'));
    expect(made.map(({ event_type, destination }) => [event_type, destination]).toSorted()).toEqual(
      [
        ['task_assigned', bob.email],
        ['task_created', bob.email],
        ['task_created', org.owner.email],
      ].toSorted(),
    );
    const { request } = made.find(({ event_type }) => event_type === 'task_assigned');
    expect(request).toMatchObject({ method: 'MAIL', headers: { Subject: 'Task assigned: Ship it' } });
    expect(request.body).toContain('Test Person has the task “Ship it” now.');
    expect(taskId).toBeDefined();
  });

  it('a change of a task because its assignee leaves notifies the creator, and nobody who has left', async () => {
    const org = await newOrg({ notify_on: [] });
    const bob = await joined(org);
    const taskId = await create(org, { assigned_to: bob.userId });
    await until(async () => (await told(bob)).unread_count === 1, 'the assignee to be told');
    await api.request('DELETE', `/orgs/${org.orgId}/members/${bob.userId}`, { token: org.owner.token });
    await until(async () => (await told(org.owner)).unread_count === 1, 'the maker to be told');
    const { notifications } = await told(org.owner);
    expect(notifications).toMatchObject([{ kind: 'task_updated', task_id: taskId }]);
    // The text has the change and its reason, and names no member as the author.
    expect(notifications[0].body.split('\n')).toEqual(['The task “Ship it” changed.', expect.any(String)]);
    expect((await told(bob)).notifications).toEqual([]);
  });

  it('a change of a task in the sandbox sends nothing outside, and notifies members in the app only', async () => {
    const org = await newOrg({ email_notifications: true, notify_on: ['task_assigned'] }, false);
    const title = `Sandbox ${org.orgId}`;
    await create(org, { title, assigned_to: org.owner.userId });
    const found = await deliveries(org, all(2, 'suppressed'));
    const shown = found.find(({ destination }) => destination === 'Slack webhook').request;
    expect(shown).toMatchObject({ method: 'POST', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\*\*\*$/) });
    expect(JSON.parse(shown.body).text).toContain(title);
    expect(said(title)).toEqual([]);
    await until(async () => (await told(org.owner)).unread_count === 1, 'the notification');
    expect((await told(org.owner)).notifications).toMatchObject([{ kind: 'task_assigned', org_id: org.orgId }]);
  });

  it('a change of a task is sent neither to Slack nor by mail when notify_on is empty', async () => {
    const org = await newOrg({ notify_on: [], email_notifications: true });
    const taskId = await create(org, { assigned_to: org.owner.userId });
    await until(async () => (await told(org.owner)).unread_count === 1, 'the notification');
    await until(
      async () =>
        !(await db().collection<{ _id: string }>('tasks').findOne({ _id: taskId }))!['unannounced' as never]['length'],
      'everything to be announced',
    );
    expect(await deliveries(org)).toEqual([]);
  });

  it('a webhook that Slack reports as gone is disabled, members are notified once, and saving it again enables it', async () => {
    const org = await newOrg({ notify_on: ['task_created'] });
    slack.answer = status(404, {}, 'no_service');
    await create(org, {});
    const [failed] = await deliveries(org, all(1, 'failed'));
    expect(failed.error).toBe('Slack answered 404: no_service.');
    await until(async () => {
      const { body } = await api.request('GET', `/support/outbox/orgs/${org.orgId}/deliveries`, { token: org.key });
      return body.destinations.some((one: { kind: string; status: string }) => one.status === 'disabled');
    }, 'the destination to be disabled');
    await create(org, {});
    const [, second] = await deliveries(org, all(2, 'failed'));
    expect(second.attempts).toEqual([]);
    slack.answer = status(200, {}, 'ok');
    const { notifications } = await told(org.owner);
    expect(notifications).toMatchObject([
      { kind: 'destination_disabled', title: 'Notifications are no longer sent to Slack webhook' },
    ]);
    await webhooks(org, { slack_webhook_url: slack.url });
    await create(org, { title: `Again ${org.orgId}` });
    await until(async () => said(`Again ${org.orgId}`).length === 1, 'Slack to be told again');
  });
});

describe('a meeting', () => {
  it('a meeting is announced once when the meeting ends, and once when its first summary is ready', async () => {
    const org = await newOrg({ notify_on: ['meeting_ended', 'summary_ready'], email_notifications: true });
    const { token } = org.owner;
    const title = `Standup ${org.orgId}`;
    const made = await api.request('POST', '/meetings', { token, body: { title } });
    const at = `/meetings/${made.body.data.meeting_id}`;
    const segments = [
      { id: '1', speaker: 'Ada', text: 'I will ship it on Friday.', timestamp: new Date().toISOString() },
    ];
    await api.request('POST', `${at}/transcript`, { token, body: { segments } });
    for (let i = 0; i < 2; i++) await api.request('POST', `${at}/end`, { token });
    for (const query of ['', '?mode=long', '?regenerate=true']) {
      const { status: code } = await api.request('GET', `${at}/summary${query}`, { token });
      expect(code).toBe(200);
    }
    await until(async () => said(title).length === 2, 'both to be told');
    const found = await deliveries(org, (those) => those.length === 4);
    expect(found.map(({ event_type }) => event_type).toSorted()).toEqual([
      'meeting_ended',
      'meeting_ended',
      'summary_ready',
      'summary_ready',
    ]);
    await until(async () => (await told(org.owner)).unread_count === 2, 'both notifications');
    expect((await told(org.owner)).notifications.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
      'meeting_ended',
      'summary_ready',
    ]);
  });

  it('a meeting of a user with several organizations is announced to the organization that the meeting names, or to none', async () => {
    const org = await newOrg({ notify_on: ['meeting_ended'] });
    await api.newOrg(org.owner);
    const { token } = org.owner;
    const stranger = await api.newOrg();
    const refused = await api.request('POST', '/meetings', { token, body: { org_id: stranger.orgId } });
    expect(refused.status).toBe(404);
    for (const body of [{ title: `Quiet ${org.orgId}` }, { title: `Loud ${org.orgId}`, org_id: org.orgId }]) {
      const made = await api.request('POST', '/meetings', { token, body });
      await api.request('POST', `/meetings/${made.body.data.meeting_id}/end`, { token });
    }
    await until(async () => said(`Loud ${org.orgId}`).length === 1, 'the named one to be told');
    expect(said(`Quiet ${org.orgId}`)).toEqual([]);
  });
});

describe('GET /me/notifications', () => {
  it('GET /me/notifications lists the user’s notifications in pages, newest first, and counts the unread ones', async () => {
    const org = await api.newOrg();
    const bob = await joined(org);
    for (let i = 0; i < 5; i++) await create(org, { title: `Task ${i}`, assigned_to: bob.userId });
    await until(async () => (await told(bob)).unread_count === 5, 'five notifications');
    const titles: string[] = [];
    let page = await told(bob, '?limit=2');
    for (;;) {
      titles.push(...page.notifications.map(({ body }: { body: string }) => /Task \d/.exec(body)![0]));
      if (page.cursor === null) break;
      page = await told(bob, `?limit=2&cursor=${page.cursor}`);
    }
    expect(titles.toSorted()).toEqual(['Task 0', 'Task 1', 'Task 2', 'Task 3', 'Task 4']);
    const [first] = (await told(bob)).notifications;
    expect(first).toEqual({
      notif_id: expect.stringMatching(/^ntf_/),
      kind: 'task_assigned',
      title: 'Task assigned',
      body: expect.stringContaining('Test Person has the task'),
      task_id: expect.stringMatching(/^task_/),
      org_id: org.orgId,
      read: false,
      created_at: expect.any(String),
    });
    const read = () => api.request('PUT', `/me/notifications/${first.notif_id}/read`, { token: bob.token });
    for (let i = 0; i < 2; i++) expect((await read()).body.data.notification).toEqual({ ...first, read: true });
    const counts = async (query: string) => {
      const { notifications, unread_count } = await told(bob, query);
      return [notifications.length, unread_count];
    };
    expect(await counts('')).toEqual([5, 4]);
    expect(await counts('?unread=true')).toEqual([4, 4]);
    expect(await counts('?unread=false')).toEqual([1, 4]);
    for (const query of ['?unread=maybe', '?limit=0', '?cursor=nonsense'])
      expect((await api.request('GET', `/me/notifications${query}`, { token: bob.token })).status).toBe(400);
  });

  it('GET /me/notifications neither shows nor marks notifications of other users or of organizations the user has left', async () => {
    const org = await api.newOrg();
    const bob = await joined(org);
    await create(org, { assigned_to: bob.userId });
    const [found] = await until(async () => {
      const { notifications } = await told(bob);
      return notifications.length === 1 && notifications;
    }, 'the notification');
    const path = `/me/notifications/${found.notif_id}/read`;
    expect((await api.request('PUT', path, { token: org.owner.token })).status).toBe(404);
    expect((await told(org.owner)).notifications).toEqual([]);
    await api.request('DELETE', `/orgs/${org.orgId}/members/${bob.userId}`, { token: org.owner.token });
    expect(await told(bob)).toEqual({ notifications: [], unread_count: 0, cursor: null });
    expect((await api.request('PUT', path, { token: bob.token })).status).toBe(404);
  });
});

describe('GET /me and PUT /me/picture', () => {
  it('GET /me and PUT /me/picture return the profile, and accept an https URL or null as the picture', async () => {
    const { owner, orgId } = await api.newOrg();
    const { token } = owner;
    const set = (picture: unknown) => api.request('PUT', '/me/picture', { token, body: { picture } });
    const profile = {
      userId: owner.userId,
      email: owner.email,
      email_verified: false,
      name: 'Test Person',
      picture: null,
      created_at: expect.any(String),
      organizations: [{ org_id: orgId, name: 'Test Organization', role: 'owner' }],
    };
    expect((await api.request('GET', '/me', { token })).body.data).toEqual(profile);
    const picture = 'https://pictures.example/ada.png';
    expect((await set(picture)).body.data).toEqual({ ...profile, picture });
    for (const bad of [
      'http://pictures.example/a.png',
      'javascript:alert(1)',
      'data:image/png;base64,AA',
      'ada.png',
      'https://a:b@c.example/',
      5,
    ]) {
      const refused = await set(bad);
      expect([bad, refused.status, refused.body.details[0].path]).toEqual([bad, 400, ['body', 'picture']]);
    }
    expect((await api.request('GET', '/me', { token })).body.data.picture).toBe(picture);
    expect((await set(null)).body.data.picture).toBeNull();
  });
});

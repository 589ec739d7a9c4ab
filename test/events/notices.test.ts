/**
 * Notifications of members about waiting customers and failed deliveries: in the app, by the organization's Slack
 * webhook, and by mail as each member likes.
 * Slack is a local receiver. There is no mail server, so mails are only stored.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { all, outboxOf, startReceiver, status, type Receiver } from '../kit/receiver.ts';
import { StaffClient } from '../kit/staffsocket.ts';
import { cancel, please, shopping } from '../kit/toolshop.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import type { Organization } from '../../models/access/organization.ts';

const api = system();
const { newConversation, act, deliveries, newOrg: newSender, outbox } = outboxOf(api);
const { opened, met } = shopping(api);
const db = sharedDatabase();
let slack: Receiver;
beforeAll(async () => {
  slack = await startReceiver(status(200, {}, 'ok'));
});
afterAll(() => slack.close());

type Org = TestOrg & { key: string };
type Shown = {
  kind: string;
  title: string;
  body: string;
  conv_id?: string;
  delivery_id?: string;
  read: boolean;
  notif_id: string;
};
const choose = (org: TestOrg, body: Record<string, unknown>) =>
  api.request('PUT', `/orgs/${org.orgId}/webhooks`, { token: org.owner.token, body });
async function newOrg({ live = false, ...settings }: Record<string, unknown> = {}): Promise<Org> {
  const org = await api.newOrg();
  if (live) await api.goLive(org);
  expect((await choose(org, { slack_webhook_url: `${slack.url}/T1/B1/x`, ...settings })).status).toBe(200);
  return { ...org, key: (await api.newKey(org, { mode: live ? 'live' : 'test' })).token };
}
const joined = (org: TestOrg): Promise<TestUser> => api.join(org);
const shown = async ({ token }: TestUser, query = ''): Promise<Shown[]> =>
  (await api.request('GET', `/me/notifications${query}`, { token })).body.data.notifications;
/** The kinds of a member's notifications, oldest first, once there are at least `count`. */
async function kinds(user: TestUser, count: number): Promise<string[]> {
  const found = await until(async () => {
    const told = await shown(user);
    return told.length >= count && told;
  }, `${count} notifications`);
  return found.map(({ kind }) => kind).toReversed();
}
const inbox = async (org: Org, convId: string, rest: string, body: unknown = {}, by = org.owner) => {
  const path = `/support/inbox/orgs/${org.orgId}/${convId}${rest}`;
  const reply = await api.request(rest === '' ? 'GET' : 'POST', path, { token: by.token, ...(rest ? { body } : {}) });
  expect([rest, reply.status]).toEqual([rest, ['/reply', '/notes'].includes(rest) ? 201 : 200]);
};
const assign = (org: Org, convId: string, to: TestUser, by?: TestUser) =>
  inbox(org, convId, '/assign', { user_id: to.userId }, by);
/** Waits until no notification about the conversation is outstanding. */
const allTold = (convId: string) =>
  until(async () => {
    const found = await db().collection<{ _id: string; untold?: unknown[] }>('conversations').findOne({ _id: convId });
    return (found?.untold ?? []).length === 0;
  }, 'everything to be told');
/** A customer with a function that sends a message. */
async function customer(org: Org) {
  const { token } = await api.newSession(org, { key: org.key });
  const path = `/support/chat/messages/${org.orgId}`;
  let conv_id: string | undefined;
  const say = async (body: string): Promise<string> => {
    const sent = await api.request('POST', path, { token, body: { body, ...(conv_id ? { conv_id } : {}) } });
    expect(sent.status).toBe(202);
    conv_id = sent.body.conv_id as string;
    return conv_id;
  };
  return { say };
}

describe('a conversation that is escalated', () => {
  it('an escalation notifies every member in the app, in Slack and by mail, without the customer’s words or name', async () => {
    const org = await newOrg({ live: true });
    const bob = await joined(org);
    const { convId, email } = await newConversation(org, { name: 'Ada Byron' });
    await act(org, convId, 'escalate', { reason: 'Her card number is 4111.' });
    const found = await deliveries(org, (those) => those.length === 3, '&kind=notification');
    for (const user of [org.owner, bob]) {
      expect(await kinds(user, 1)).toEqual(['conversation_escalated']);
      expect((await shown(user))[0]).toMatchObject({
        title: 'A conversation of Test Organization was escalated',
        body: `A member took it over.\nConversation ${convId}`,
        conv_id: convId,
        org_id: org.orgId,
        mode: 'live',
        read: false,
      });
    }
    await until(async () => slack.received.some(({ body }) => body.includes(convId)), 'Slack to be told');
    const said = slack.received.filter(({ body }) => body.includes(convId));
    expect(said.map(({ event }) => event.text)).toEqual([
      `*A conversation of Test Organization was escalated* A member took it over.\nConversation ${convId}`,
    ]);
    const stored = await db().collection('notifications').find({ org_id: org.orgId }).toArray();
    const everything = JSON.stringify([found, said, stored]);
    for (const secret of [email, 'Ada Byron', 'Where is my card', '4111']) expect(everything).not.toContain(secret);
    expect(found.map(({ event_type }) => event_type)).toEqual(Array(3).fill('conversation_escalated'));
  });

  it('an escalation by the agent in test mode notifies members in the app, and only stores the Slack message and mail', async () => {
    const org = await newOrg();
    const convId = await (await customer(org)).say('I want to talk to a human');
    expect(await kinds(org.owner, 1)).toEqual(['conversation_escalated']);
    const [told] = await shown(org.owner);
    expect([told!.title, told!.conv_id]).toEqual(['A customer of Test Organization asks for a person', convId]);
    const kept = await deliveries(org, all(2, 'suppressed'), '&kind=notification');
    const bodies = kept.map(({ request }) => request.body as string);
    expect(bodies.every((body) => body.includes(convId))).toBe(true);
    expect(slack.received.filter(({ body }) => body.includes(convId))).toEqual([]);
    const records = await db().collection<Delivery>('deliveries').find({ org_id: org.orgId }).toArray();
    // Each record names the customer in `about`, so it is deleted with the customer.
    const whose = [expect.stringMatching(/^cus_/)];
    expect(records.map(({ subject, about }) => [subject.conv_id, about])).toEqual([
      [convId, whose],
      [convId, whose],
    ]);
  });

  it('each further escalation of a conversation notifies the members again, or only the assignee if there is one', async () => {
    const org = await newOrg({ notify_on: [] });
    const bob = await joined(org);
    const { convId } = await newConversation(org);
    for (const name of ['escalate', 'resolve', 'escalate', 'resolve']) await act(org, convId, name);
    expect(await kinds(bob, 2)).toEqual(['conversation_escalated', 'conversation_escalated']);
    await assign(org, convId, bob, bob);
    await act(org, convId, 'escalate');
    expect(await kinds(bob, 3)).toHaveLength(3);
    await allTold(convId);
    expect(await shown(org.owner)).toHaveLength(2);
    expect(await deliveries(org)).toEqual([]);
  });

  it('an escalation because the customer answers a member’s reply notifies the assignee, or else everybody', async () => {
    const org = await newOrg();
    const bob = await joined(org);
    const [free, had] = [await customer(org), await customer(org)];
    const [one, two] = [await free.say('Hello?'), await had.say('Hello?')];
    await assign(org, two, bob, bob);
    for (const convId of [one, two]) await inbox(org, convId, '/reply', { body: 'It is on its way.' });
    await free.say('Since when?');
    await allTold(one);
    expect((await shown(bob)).map(({ kind, title }) => [kind, title])).toEqual([
      ['conversation_escalated', 'A customer of Test Organization wrote back'],
    ]);
    await had.say('Since when?');
    expect(await kinds(bob, 2)).toEqual(['conversation_escalated', 'customer_replied']);
    await allTold(two);
    expect(await shown(org.owner)).toHaveLength(1);
  });
});

describe('a conversation that is assigned', () => {
  it('an assignment notifies the new assignee, except for a self-assignment or an unchanged assignee', async () => {
    const org = await newOrg();
    const bob = await joined(org);
    const { convId } = await newConversation(org);
    await assign(org, convId, org.owner);
    for (let times = 0; times < 2; times += 1) await assign(org, convId, bob);
    expect(await kinds(bob, 1)).toEqual(['conversation_assigned']);
    await allTold(convId);
    const [told, ...more] = await shown(bob);
    expect(told).toMatchObject({
      title: 'A conversation of Test Organization was assigned to you',
      body: `Test Person assigned it to you.\nConversation ${convId}`,
      conv_id: convId,
    });
    expect([more, await shown(org.owner)]).toEqual([[], []]);
    const kept = await deliveries(org, all(2, 'suppressed'), '&kind=notification');
    expect(kept.map(({ destination }) => destination).toSorted()).toEqual(['Slack webhook', bob.email].toSorted());
  });
});

describe('a customer’s message to an assigned conversation', () => {
  it('a message in an assigned conversation notifies the assignee once, and again after the notice is read or a member replied', async () => {
    const org = await newOrg();
    const ada = await customer(org);
    const convId = await ada.say('Hello?');
    await assign(org, convId, org.owner);
    for (let times = 0; times < 5; times += 1) await ada.say(`Are you there? ${times}`);
    expect(await kinds(org.owner, 1)).toEqual(['customer_replied']);
    await allTold(convId);
    expect(await shown(org.owner)).toHaveLength(1);
    // Opening the conversation marks the notifications about it as read.
    await inbox(org, convId, '');
    expect((await shown(org.owner)).map(({ read }) => read)).toEqual([true]);
    await ada.say('Hello again?');
    expect(await kinds(org.owner, 2)).toHaveLength(2);
    // A colleague replies, and the customer answers. The assignee is notified again, although the last notification is
    // unread.
    const bob = await joined(org);
    await inbox(org, convId, '/reply', { body: 'One moment.' }, bob);
    for (const body of ['Thanks!', 'I wait.']) await ada.say(body);
    expect(await kinds(org.owner, 3)).toHaveLength(3);
    await allTold(convId);
    expect(await shown(org.owner)).toHaveLength(3);
    expect(await shown(bob)).toEqual([]);
    await deliveries(org, all(6, 'suppressed'), '&kind=notification');
  });

  it('a message in an assigned conversation notifies all members when the assignee has left and a person must answer', async () => {
    const org = await newOrg({ notify_on: [] });
    const bob = await joined(org);
    const ada = await customer(org);
    const convId = await ada.say('Hello?');
    await assign(org, convId, bob, bob);
    const members = { user_id: bob.userId };
    await db().collection<Organization>('organizations').updateOne({ _id: org.orgId }, { $pull: { members } });
    // The agent answers this message, so nobody is needed.
    await ada.say('Hello again?');
    await allTold(convId);
    expect(await shown(org.owner)).toEqual([]);
    await inbox(org, convId, '/reply', { body: 'One moment.' });
    await ada.say('Are you there?');
    expect(await kinds(org.owner, 1)).toEqual(['conversation_escalated']);
  });
});

describe('a snooze that ends', () => {
  it('the end of a snooze notifies only the member who snoozed when the assignee has left', async () => {
    const org = await newOrg({ notify_on: [] });
    const [bob, carol] = [await joined(org), await joined(org)];
    const convId = await (await customer(org)).say('Hello?');
    await assign(org, convId, bob, bob);
    const members = { user_id: bob.userId };
    await db().collection<Organization>('organizations').updateOne({ _id: org.orgId }, { $pull: { members } });
    const end = new Date(Date.now() + 1_500).toISOString();
    await inbox(org, convId, '/snooze', { until: end }, carol);
    expect(await kinds(carol, 1)).toEqual(['snooze_over']);
    await allTold(convId);
    expect(await shown(org.owner)).toEqual([]);
  });
});

describe('the notices of a member', () => {
  const notices = (user: TestUser, body?: object) =>
    api.request(body ? 'PUT' : 'GET', '/me/notices', { token: user.token, ...(body ? { body } : {}) });

  it('a member reads and changes the notification settings, and settings that are left out keep their values', async () => {
    const user = await api.newUser();
    const initial = { browser: true, sound: false, mail: true, mail_after_minutes: 5, quiet_hours: null };
    expect((await notices(user)).body.data).toEqual(initial);
    const quiet_hours = { from: '22:00', until: '07:00', timezone: 'Europe/Berlin' };
    expect((await notices(user, { quiet_hours, sound: true })).body.data).toEqual({
      ...initial,
      quiet_hours,
      sound: true,
    });
    expect((await notices(user, { quiet_hours: null })).body.data).toEqual({ ...initial, sound: true });
    expect((await notices(user, {})).body.data).toEqual({ ...initial, sound: true });
  });

  it.each([
    [{ quiet_hours: { from: '24:00', until: '07:00', timezone: 'UTC' } }, 'quiet_hours.from'],
    [{ quiet_hours: { from: '22:00', until: '07:00', timezone: 'Mars/Olympus' } }, 'quiet_hours.timezone'],
    [{ mail_after_minutes: 1_441 }, 'mail_after_minutes'],
    [{ color: 'red' }, 'color'],
  ])('invalid notification settings are refused with 400: %j', async (body, path) => {
    const user = await api.newUser();
    const refused = await notices(user, body);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining(path.split('.').at(-1)!),
    ]);
  });

  it('an escalation notifies the members who are present, or all members when nobody is present', async () => {
    const org = await newOrg({ slack_webhook_url: null });
    const [here, away] = [await joined(org), await joined(org)];
    const socket = await StaffClient.open(api, org.orgId, here);
    await socket.frame('member', (one) => one.user_id === here.userId && one.state === 'here');
    const first = (await newConversation(org)).convId;
    const began = Date.now();
    await act(org, first, 'escalate');
    await socket.frame('notification');
    await allTold(first);
    expect([await shown(away), await shown(org.owner)]).toEqual([[], []]);
    const waiting = await db().collection('notifications').findOne({ conv_id: first });
    expect((waiting!['mail'] as { at: Date }).at.getTime() - began).toBeGreaterThanOrEqual(300_000);
    expect(await deliveries(org)).toEqual([]);
    // The member has a socket, but has chosen to be away.
    const body = { org_id: org.orgId, state: 'away' };
    expect((await api.request('PUT', '/me/availability', { token: here.token, body })).status).toBe(200);
    const second = (await newConversation(org)).convId;
    await act(org, second, 'escalate');
    for (const user of [away, org.owner]) expect(await kinds(user, 1)).toEqual(['conversation_escalated']);
    await deliveries(org, all(3, 'suppressed'), '&kind=notification');
    await socket.close();
    expect(socket.faults).toEqual([]);
  });

  it('a mail that is due in a member’s quiet hours waits until the quiet hours end', async () => {
    const org = await newOrg({ slack_webhook_url: null });
    const [quiet, none] = [await joined(org), await joined(org)];
    const now = new Date();
    const clock = (hours: number) => new Date(now.getTime() + hours * 3_600_000).toISOString().slice(11, 16);
    const quiet_hours = { from: clock(-1), until: clock(2), timezone: 'UTC' };
    expect((await notices(quiet, { quiet_hours })).status).toBe(200);
    expect((await notices(none, { mail: false })).status).toBe(200);
    const { convId } = await newConversation(org);
    await act(org, convId, 'escalate');
    const sent = await deliveries(org, all(1, 'suppressed'), '&kind=notification');
    expect(sent.map(({ destination }) => destination)).toEqual([org.owner.email]);
    const waiting = async () => {
      const found = await db()
        .collection('notifications')
        .find({ org_id: org.orgId, mail: { $exists: true } })
        .toArray();
      return found.map(({ user_id, mail }) => [user_id, (mail as { at: Date }).at.toISOString().slice(11, 16)]);
    };
    await until(async () => (await waiting()).length === 1, 'one mail to be left');
    expect(await waiting()).toEqual([[quiet.userId, clock(2)]]);
    await inbox(org, convId, '', {}, quiet);
    expect(await waiting()).toEqual([]);
  });

  it('a mail that becomes due before the member’s quiet hours, but would be sent during them, waits until the quiet hours end', async () => {
    const org = await newOrg({ slack_webhook_url: null });
    const bob = await joined(org);
    const socket = await StaffClient.open(api, org.orgId, bob);
    await socket.frame('member', (one) => one.user_id === bob.userId && one.state === 'here');
    const { convId } = await newConversation(org);
    await act(org, convId, 'escalate');
    await socket.frame('notification');
    await allTold(convId);
    const now = new Date();
    const clock = (hours: number) => new Date(now.getTime() + hours * 3_600_000).toISOString().slice(11, 16);
    const quiet_hours = { from: clock(-1), until: clock(2), timezone: 'UTC' };
    expect((await notices(bob, { quiet_hours })).status).toBe(200);
    const notifications = db().collection('notifications');
    // The mention makes the workflow look again, when the mail is already due.
    await notifications.updateOne({ conv_id: convId }, { $set: { 'mail.at': new Date() } });
    await inbox(org, convId, '/notes', { body: 'Look.', mentions: [bob.userId] });
    await until(async () => {
      const found = await notifications.find({ conv_id: convId, mail: { $exists: true } }).toArray();
      const times = found.map(({ mail }) => (mail as { at: Date }).at.toISOString().slice(11, 16));
      return times.length === 2 && times.every((time) => time === clock(2));
    }, 'both mails to wait for the end of the quiet hours');
    expect(await deliveries(org)).toEqual([]);
    await socket.close();
  });

  it('a waiting mail to a member is not sent when a colleague has answered the customer meanwhile', async () => {
    const org = await newOrg({ slack_webhook_url: null });
    const bob = await joined(org);
    const socket = await StaffClient.open(api, org.orgId, bob);
    await socket.frame('member', (one) => one.user_id === bob.userId && one.state === 'here');
    const { convId } = await newConversation(org);
    await act(org, convId, 'escalate');
    await socket.frame('notification');
    await inbox(org, convId, '/reply', { body: 'Here I am.' });
    const notifications = db().collection('notifications');
    // The mention makes the workflow look again, when the mail is already due.
    await notifications.updateOne({ conv_id: convId }, { $set: { 'mail.at': new Date() } });
    await inbox(org, convId, '/notes', { body: 'Look.', mentions: [bob.userId] });
    await until(async () => {
      const [first] = await notifications.find({ conv_id: convId }).sort({ _id: 1 }).toArray();
      return first!['mail'] === undefined;
    }, 'the mail to be given up');
    expect(await deliveries(org)).toEqual([]);
    await socket.close();
  });
});

describe('a tool call that waits for a member’s approval', () => {
  it('a tool call that waits for a member’s approval notifies all members once, over the chosen channels', async () => {
    const shop = await opened([{ tool: cancel, risk_tier: 'admin_approve' }]);
    const bob = await joined(shop.org);
    const { client } = await met(shop);
    client.say(please);
    for (const user of [shop.org.owner, bob]) expect(await kinds(user, 1)).toEqual(['approval_waiting']);
    const [told] = await shown(bob);
    const [{ id }] = (await shop.request('GET', '/approvals')).body.approvals;
    expect(told).toMatchObject({
      title: 'A tool call of Test Organization waits for a member',
      body: `The agent wants to use Cancel order for a customer; it waits for a day.\nConversation ${client.convId}, approval ${id}`,
      conv_id: client.convId,
      approval_id: id,
    });
    const org = { ...shop.org, key: shop.key };
    await deliveries(org, all(2, 'suppressed'), '&kind=notification');
  });

  it('a tool call that waits for a member’s approval notifies all members when the conversation’s assignee has left', async () => {
    const shop = await opened([{ tool: cancel, risk_tier: 'admin_approve' }]);
    const { client } = await met(shop);
    const { conv_id } = await client.frame('welcome');
    const { modifiedCount } = await db()
      .collection<{ _id: string }>('conversations')
      .updateOne({ _id: conv_id }, { $set: { assigned_to: 'usr_who_left' } });
    expect(modifiedCount).toBe(1);
    client.say(please);
    expect(await kinds(shop.org.owner, 1)).toEqual(['approval_waiting']);
  });
});

describe('a delivery that was given up', () => {
  it('when a delivery is given up, members are notified with its id, once per destination until they read the notice', async () => {
    const receiver = await startReceiver(status(500));
    const org = await newSender(receiver.url);
    await choose(org, { notify_on: ['delivery_failed'] });
    await api.request('PUT', '/me/notices', { token: org.owner.token, body: { mail: true } });
    const { convId } = await newConversation(org);
    await act(org, convId, 'escalate');
    const due = await deliveries(org, (those) => those.some(({ attempts }) => attempts.length > 0), '&kind=webhook');
    // The next attempt of each delivery is its last one; the second delivery follows the first at once.
    await db()
      .collection<Delivery>('deliveries')
      .updateMany({ org_id: org.orgId }, { $set: { tries: 7 } });
    await outbox(org, 'POST', `/deliveries/${due[0].delivery_id}/redeliver`, {});
    const failed = await deliveries(org, all(2, 'failed'), '&kind=webhook');
    const ofFailing = async () => (await shown(org.owner)).filter(({ kind }) => kind === 'delivery_failed');
    await until(async () => (await ofFailing()).length > 0, 'the members to be told');
    const untold = { org_id: org.orgId, 'pending.workflow': 'notices' };
    await until(
      async () => (await db().collection('deliveries').countDocuments(untold)) === 0,
      'everything to be told to be begun',
    );
    const [mail] = await deliveries(org, all(1, 'suppressed'), '&kind=notification');
    expect(mail.event_type).toBe('delivery_failed');
    const [told, ...more] = await ofFailing();
    const one = failed.find(({ delivery_id }) => delivery_id === told!.delivery_id);
    expect(more).toEqual([]);
    expect(told).toMatchObject({
      title: 'A delivery of Test Organization was given up',
      conv_id: convId,
      body: `${one.event_type} did not reach ${receiver.url}.\nThe receiver answered 500.\nDelivery ${one.delivery_id}`,
    });
    await receiver.close();
  });
});

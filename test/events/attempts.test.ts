/**
 * Delivery attempts and how they change the state of their destination: the activities alone, with a clock that the
 * test moves.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { TypedSearchAttributes } from '@temporalio/common';
import mongoose from 'mongoose';
import { delivering } from '../kit/delivering.ts';
import { until } from '../kit/harness.ts';
import { hang, status, type Receiver } from '../kit/receiver.ts';
import { receiversOfTest } from '../kit/receivers.ts';
import { inFlightPerDestination } from '../../activities/events/deliver.ts';
import { notification } from '../../activities/events/senders/notification.ts';
import { toMember } from '../../activities/events/telling.ts';
import type { Deployment } from '../../cli/operator/deployment.ts';
import { retry } from '../../cli/operator/workflows.ts';
import { MailRefused } from '../../providers/mail/client.ts';
import { inFrame } from '../../providers/mail/outside.ts';
import { email } from '../../providers/mail/send.ts';
import type { MailSettings } from '../../providers/mail/settings.ts';
import { webhook } from '../../providers/webhook/send.ts';
import { replaceInvitation } from '../../models/access/invitation.ts';
import { addMember, createOrganization, newOrganization, removeMember } from '../../models/access/organization.ts';
import { NotificationModel } from '../../models/access/notification.ts';
import { createUser, UserModel } from '../../models/access/user.ts';
import { newId } from '../../models/base/ids.ts';
import { actOn } from '../../models/chat/act.ts';
import { carrierOf, createDelivery, redeliver, type NewDelivery } from '../../models/events/delivery.ts';
import { enableDestination, listDestinations } from '../../models/events/destination.ts';
import {
  admitOutsideMail,
  admitToAddress,
  hasObjected,
  objectionToken,
  objectToMails,
} from '../../models/events/outsidemail.ts';
import { saveOrgWebhook, slackWebhookPlace } from '../../models/events/orgwebhook.ts';
import { tryNowSignal } from '../../models/rules/chat/work.ts';
import { ticketLine } from '../../models/rules/events/delivery.ts';
import type { OutgoingMail } from '../../models/rules/events/mailout.ts';
import {
  outsideRefusals,
  outsideToOnePerDay,
  outsideUnprovenPerDay,
  taskMailsToMemberPerDay,
} from '../../models/rules/events/outsidemail.ts';
import { everyRecord } from '../../models/base/define.ts';
import { introduced } from '../../workflows/base/introduced.ts';

/** The limits used in production. */
const patient = { totalTimeoutMs: 30_000, headersTimeoutMs: 10_000 };
/** Shorter limits for tests that wait until an attempt times out. */
const impatient = { totalTimeoutMs: 1_000, headersTimeoutMs: 1_000 };
const limits = { ...patient };
/** The mails that the mail server took, and the number of next mails that it does not take at the moment. */
const mailServer = { taken: [] as OutgoingMail[], busyFor: 0 };
const { newOrg, newTicket, configure, sendEvents, sendSome, sendSlowly, deliveries, secrets, clock, move } = delivering(
  'attempts',
  {
    http: { egressAllow: ['127.0.0.1'] },
    limits,
    deps: {
      senders: { webhook, email, notification },
      mail: {
        server: { secure: false, host: '127.0.0.1', port: 25 },
        from: { name: 'Bank', address: 'support@bank.example' },
        replyDomain: undefined,
        outsidePerDay: 100,
      },
      mailer: {
        send: async (_route, mail) => {
          if (mailServer.busyFor-- > 0) throw new MailRefused('now', '451 4.2.1 busy', { status: 451 });
          mailServer.taken.push(mail);
          return { status: 250, reply: '250 OK' };
        },
        check: async () => undefined,
      },
    },
  },
);
const newReceiver = receiversOfTest();
const day = 86_400_000;

const destinations = (orgId: string) => listDestinations(orgId, ['live']);
/** The kinds of the notifications that the organization's members have. */
const toldOf = async (orgId: string): Promise<string[]> =>
  (await NotificationModel.find({ org_id: orgId }, null, everyRecord).lean()).map(({ kind }) => kind);
/** An organization with one member, whose notifications go to a Slack webhook. */
async function withSlack({ url }: Receiver) {
  const orgId = newId('org');
  await createOrganization(newOrganization(orgId, 'Example', newId('user'), clock()));
  const save = () => {
    const sealed = secrets.seal(url, slackWebhookPlace(orgId));
    return saveOrgWebhook(orgId, { slack_webhook_url: sealed }, { savesUrl: true, now: clock() });
  };
  await save();
  /** Stores a message to Slack, which is not sent yet; returns its line. */
  const newMessage = async (): Promise<string> => {
    const message: NewDelivery = {
      org_id: orgId,
      mode: 'live',
      kind: 'notification',
      event_id: newId('event'),
      event_type: 'task_created',
      lane: 'slack',
      destination: 'Slack webhook',
      subject: {},
      about: [],
      payload: { slack: { text: 'A task' } },
    };
    return (await createDelivery(message, clock())).delivery.line;
  };
  return { orgId, save, newMessage };
}
/** An organization with successful deliveries to its receiver, so that the destination's state is known. */
async function proven(receiver: Receiver): Promise<string> {
  const orgId = await newOrg(receiver.url);
  const ticket = await newTicket(orgId);
  const { lines } = await sendEvents(ticket);
  for (const { line } of lines) await sendSome(orgId, line);
  expect((await deliveries(orgId)).map(({ status: at }) => at)).toEqual(['delivered', 'delivered']);
  receiver.received.length = 0;
  return orgId;
}
/** A ticket whose deliveries are planned but not sent. */
async function planned(orgId: string) {
  const ticket = await newTicket(orgId);
  const { lines } = await sendEvents(ticket);
  return { ...ticket, line: ticketLine(ticket.ticketId, 'webhook'), lines };
}

describe('a ticket’s events', () => {
  it('a ticket’s deliveries are planned but not yet sent while it is unknown whether the destination answers', async () => {
    const receiver = await newReceiver();
    const { orgId, line, lines } = await planned(await newOrg(receiver.url));
    expect(lines).toEqual([{ line, left: { kind: 'more', slow: false } }]);
    expect(receiver.received).toEqual([]);
    expect(await sendSome(orgId, line)).toEqual({ kind: 'done' });
    expect(receiver.received).toHaveLength(2);
  });

  it('a ticket’s events are sent at once, and only once, when the destination is known to answer', async () => {
    const receiver = await newReceiver();
    const orgId = await proven(receiver);
    const ticket = await newTicket(orgId);
    expect(await sendEvents(ticket)).toEqual({ lines: [] });
    expect(receiver.received.map(({ event }) => event.data.ticket.event_seq)).toEqual([1, 2]);
    expect(await sendEvents(ticket)).toEqual({ lines: [] });
    expect(receiver.received).toHaveLength(2);
    expect(await deliveries(orgId)).toHaveLength(4);
  });

  it('events from before a destination was selected are not sent to that destination', async () => {
    const receiver = await newReceiver();
    const orgId = await newOrg(receiver.url);
    await configure(orgId, { outbox_providers: [] });
    const ticket = await newTicket(orgId);
    expect(await sendEvents(ticket)).toEqual({ lines: [] });
    await configure(orgId, { outbox_providers: ['webhook'] });
    await actOn(orgId, ticket.convId, 'resolve', { now: clock() });
    const { lines } = await sendEvents(ticket);
    await sendSome(orgId, lines[0]!.line);
    expect(receiver.received.map(({ event }) => event.type)).toEqual(['ticket.resolved']);
  });

  it('no deliveries are planned for a deleted conversation', async () => {
    const orgId = newId('org');
    expect(await sendEvents({ orgId, convId: newId('conversation'), ticketId: newId('ticket') })).toEqual({
      lines: [],
    });
  });
});

describe('a destination', () => {
  it('a destination that accepts nothing for five days is disabled, and each member is notified once', async () => {
    const receiver = await newReceiver(status(500));
    const members = [newId('user'), newId('user')];
    const orgId = await newOrg(receiver.url);
    const organization = newOrganization(orgId, 'Example', members[0]!, clock());
    const second = { user_id: members[1]!, role: 'member' as const, joined_at: clock() };
    await createOrganization({ ...organization, members: [...organization.members, second] });
    const one = await planned(orgId);
    await sendSome(orgId, one.line);
    expect(await destinations(orgId)).toMatchObject([{ status: 'failing' }]);
    move(5 * day - 60_000);
    const two = await planned(orgId);
    await sendSome(orgId, two.line);
    expect(await destinations(orgId)).toMatchObject([{ status: 'failing' }]);
    move(120_000);
    const [three, four] = [await planned(orgId), await planned(orgId)];
    expect(await sendSome(orgId, three.line)).toMatchObject({ kind: 'waiting' });
    expect(await destinations(orgId)).toMatchObject([{ status: 'disabled' }]);
    const asked = receiver.received.length;
    const givenUp = async (line: string): Promise<string | undefined> => {
      const { kind, failed } = (await sendSome(orgId, line)) as { kind: string; failed?: string };
      expect(kind).toBe('done');
      return (await deliveries(orgId)).find(({ _id }) => _id === failed)?.error;
    };
    expect(await givenUp(four.line)).toContain('disabled');
    move(day);
    expect(await givenUp(three.line)).toContain('disabled');
    expect(receiver.received).toHaveLength(asked);
    const told = await NotificationModel.find({ org_id: orgId }, null, everyRecord).lean();
    expect(told.map(({ kind }) => kind)).toEqual(['destination_disabled', 'destination_disabled']);
    expect(told.map(({ user_id }) => user_id).toSorted()).toEqual(members.toSorted());
    expect(told[0]!.body).toContain('For five days it took nothing. The last failure: The receiver answered 500.');
  });

  it('a destination that fails for more than five days but accepts a delivery in between is not disabled', async () => {
    const receiver = await newReceiver(status(500));
    const orgId = await newOrg(receiver.url);
    await sendSome(orgId, (await planned(orgId)).line);
    move(3 * day);
    receiver.answer = status(200);
    await sendSome(orgId, (await planned(orgId)).line);
    expect(await destinations(orgId)).toMatchObject([{ status: 'active' }]);
    receiver.answer = status(500);
    move(3 * day);
    await sendSome(orgId, (await planned(orgId)).line);
    expect(await destinations(orgId)).toMatchObject([{ status: 'failing' }]);
  });

  it('a failing destination gets another five days before it is disabled when the settings are saved', async () => {
    const receiver = await newReceiver(status(500));
    const orgId = await newOrg(receiver.url);
    await sendSome(orgId, (await planned(orgId)).line);
    move(6 * day);
    await configure(orgId, { outbox_providers: ['webhook'] });
    await sendSome(orgId, (await planned(orgId)).line);
    expect(await destinations(orgId)).toMatchObject([{ status: 'failing' }]);
  });

  it('a destination that answers 410 (gone) is disabled, even when the first attempt cannot store the destination’s state', async () => {
    const { orgId, newMessage } = await withSlack(await newReceiver(status(410)));
    const line = await newMessage();
    // MongoDB refuses to store the destination's state, so the attempt ends at this point.
    const validate = (validator: object) => mongoose.connection.db!.command({ collMod: 'destinations', validator });
    await validate({ org_id: { $ne: orgId } });
    try {
      await expect(sendSome(orgId, line)).rejects.toThrow('validation');
    } finally {
      await validate({});
    }
    expect(await sendSome(orgId, line)).toMatchObject({ kind: 'done', failed: expect.any(String) });
    expect(await destinations(orgId)).toMatchObject([{ kind: 'notification', status: 'disabled' }]);
    expect(await toldOf(orgId)).toEqual(['destination_disabled']);
  });

  it('a Slack webhook that was disabled because it is gone is tried again only after its URL is saved again', async () => {
    const receiver = await newReceiver(status(410));
    const { orgId, save, newMessage } = await withSlack(receiver);
    /** Sends a message, which fails; returns the number of requests to Slack and of notifications so far. */
    const sent = async (): Promise<number[]> => {
      expect(await sendSome(orgId, await newMessage())).toMatchObject({ kind: 'done', failed: expect.any(String) });
      return [receiver.received.length, (await toldOf(orgId)).length];
    };
    expect(await sent()).toEqual([1, 1]);
    await configure(orgId, { outbox_providers: [] });
    await saveOrgWebhook(orgId, { email_notifications: true }, { savesUrl: false, now: clock() });
    expect(await sent()).toEqual([1, 1]);
    expect(await destinations(orgId)).toMatchObject([{ kind: 'notification', status: 'disabled' }]);
    await save();
    expect(await destinations(orgId)).toEqual([]);
    expect(await sent()).toEqual([2, 2]);
  });

  it('members are notified again when a destination that was enabled again is still gone', async () => {
    const { orgId, newMessage } = await withSlack(await newReceiver(status(410)));
    await sendSome(orgId, await newMessage());
    expect(await toldOf(orgId)).toEqual(['destination_disabled']);
    await enableDestination(orgId, 'notification');
    move(60_000);
    await sendSome(orgId, await newMessage());
    expect(await toldOf(orgId)).toEqual(['destination_disabled', 'destination_disabled']);
  });

  it('a destination that times out moves to the queue of slow destinations, until it answers in time', async () => {
    const receiver = await newReceiver();
    const orgId = await proven(receiver);
    receiver.answer = hang;
    const ticket = await newTicket(orgId);
    Object.assign(limits, impatient);
    const { lines } = await sendEvents(ticket);
    Object.assign(limits, patient);
    const line = ticketLine(ticket.ticketId, 'webhook');
    expect(lines).toEqual([{ line, left: expect.objectContaining({ kind: 'waiting', slow: true }) }]);
    const [, , hung] = await deliveries(orgId);
    expect(hung).toMatchObject({
      status: 'retrying',
      error: 'The server did not answer in time.',
      attempts: [{ error: 'The server did not answer in time.' }],
    });
    move(10_000);
    expect(await sendSome(orgId, line)).toEqual({ kind: 'more', slow: true });
    // `sendSome` makes no attempt at a slow destination. On a busy machine, the first attempt may have timed out before
    // the receiver got it.
    expect([(await deliveries(orgId))[2], receiver.received.length > 1]).toEqual([hung, false]);
    const other = await planned(orgId);
    expect(other.lines).toEqual([{ line: other.line, left: { kind: 'more', slow: true } }]);
    receiver.answer = status(200);
    expect(await sendSlowly(orgId, line)).toEqual({ kind: 'done' });
    expect(await destinations(orgId)).toMatchObject([{ status: 'active', slow: false }]);
    expect(await sendEvents(await newTicket(orgId))).toEqual({ lines: [] });
  });

  it('a destination at its limit of concurrent attempts gets further attempts later, and other destinations are not affected', async () => {
    const owed: ServerResponse[] = [];
    const bad = await newReceiver((_, response) => void owed.push(response));
    const good = await newReceiver();
    const [badOrg, goodOrg] = [await newOrg(bad.url), await newOrg(good.url)];
    const tickets = [];
    for (let n = 0; n <= inFlightPerDestination; n += 1) tickets.push(await planned(badOrg));
    const hanging = tickets.slice(1).map(({ line }) => sendSome(badOrg, line));
    await until(async () => owed.length === inFlightPerDestination, 'all attempts to be under way');
    expect(await sendSome(badOrg, tickets[0]!.line)).toEqual({ kind: 'more', slow: true });
    expect(await sendSome(goodOrg, (await planned(goodOrg)).line)).toEqual({ kind: 'done' });
    expect(bad.received).toHaveLength(inFlightPerDestination);
    for (const response of owed) response.writeHead(500).end();
    const left = await Promise.all(hanging);
    expect(left.map(({ kind }) => kind)).toEqual(left.map(() => 'waiting'));
    expect(bad.received).toHaveLength(inFlightPerDestination);
  });
});

describe('ops retry', () => {
  it.each(['ticketEvents', 'sendLine'])(
    'ops retry makes the next attempt of a waiting delivery due at once, whichever workflow sends it: %s',
    async (workflow) => {
      const receiver = await newReceiver(status(503, { 'retry-after': '3600' }));
      const waits = async (): Promise<{ orgId: string; line: string }> => {
        if (workflow === 'ticketEvents') return planned(await newOrg(receiver.url));
        const { orgId, newMessage } = await withSlack(receiver);
        return { orgId, line: await newMessage() };
      };
      const { orgId, line } = await waits();
      for (let looks = 0; looks < 2; looks++) expect(await sendSome(orgId, line)).toMatchObject({ kind: 'waiting' });
      expect(receiver.received).toHaveLength(1);
      receiver.answer = status(200);
      const carrier = carrierOf((await deliveries(orgId))[0]!);
      expect(carrier.workflow).toBe(workflow);
      const signals: unknown[] = [];
      const handle = {
        describe: async () => ({
          type: workflow,
          status: { name: 'RUNNING' },
          raw: {},
          typedSearchAttributes: new TypedSearchAttributes(
            introduced(workflow, carrier.id, orgId).typedSearchAttributes,
          ),
        }),
        signal: async (name: unknown) => void signals.push(name),
      };
      const temporal = { options: {}, workflow: { getHandle: () => handle } };
      expect(await retry({ temporal, by: 'ada' } as unknown as Deployment, carrier.id)).toBe('It is tried now.');
      expect(signals).toEqual([tryNowSignal]);
      expect(await sendSome(orgId, line)).toEqual({ kind: 'done' });
      expect((await deliveries(orgId))[0]).toMatchObject({ status: 'delivered', tries: 1 });
    },
  );
});

describe('an attempt that another attempt has overtaken', () => {
  it('a delivery attempt that a later attempt has overtaken changes nothing when it fails', async () => {
    const receiver = await newReceiver();
    const { orgId, line } = await planned(await newOrg(receiver.url));
    let owed: ServerResponse | undefined;
    receiver.answer = (_, response) => void (owed = response);
    const first = sendSome(orgId, line);
    await until(async () => owed !== undefined, 'the first attempt');
    receiver.answer = status(200);
    expect(await sendSome(orgId, line)).toEqual({ kind: 'done' });
    owed!.destroy();
    await first;
    const [created] = await deliveries(orgId);
    expect(created).toMatchObject({ status: 'delivered', tries: 0 });
    expect(created!.attempts).toMatchObject([{ error: expect.stringContaining('interrupted') }, { status_code: 200 }]);
    expect(new Set(receiver.received.slice(0, 2).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('a delivery counts as delivered when an overtaken attempt is accepted although the later attempt failed', async () => {
    const receiver = await newReceiver(hang);
    const { orgId, line } = await planned(await newOrg(receiver.url));
    let late: (() => void) | undefined;
    receiver.answer = (_, response) => void (late = () => response.end());
    const first = sendSome(orgId, line);
    await until(async () => late !== undefined, 'the first attempt');
    receiver.answer = status(500);
    expect(await sendSome(orgId, line)).toMatchObject({ kind: 'waiting' });
    receiver.answer = status(200);
    late!();
    await first;
    const [created] = await deliveries(orgId);
    expect(created!.status).toBe('delivered');
  });
});

/** Stores a mail's delivery. `send` makes its next attempt, and `redelivered` first asks for another one. */
async function stored(fresh: Omit<NewDelivery, 'mode' | 'subject' | 'about'>) {
  const { delivery } = await createDelivery({ ...fresh, mode: 'live', subject: {}, about: [] }, clock());
  const { _id, org_id } = delivery;
  const send = async () => {
    await sendSome(org_id, _id);
    return (await deliveries(org_id)).find((one) => one._id === _id)!;
  };
  const redelivered = async () => {
    await redeliver(org_id, _id, clock());
    return send();
  };
  return { send, redelivered };
}
const takenFor = (address: string) => mailServer.taken.filter(({ to }) => to.address === address);

describe('a mail to a member', () => {
  /** A member of a new organization. `mailAbout` stores a mail to the member about an event. */
  async function withMember() {
    const [org_id, owner, _id] = [newId('org'), newId('user'), newId('user')];
    await createOrganization(newOrganization(org_id, 'Example', owner, clock()));
    const user = {
      _id,
      email: `${randomUUID()}@in.example`,
      email_verified: true,
      name: 'Ada',
      identities: [],
      epoch: 0,
      created_at: clock(),
    };
    await createUser(user);
    await addMember(org_id, owner, { user_id: _id, role: 'member', joined_at: clock() });
    const mailAbout = (event_type: string) =>
      stored({
        org_id,
        kind: 'notification',
        event_id: newId('event'),
        event_type,
        ...toMember(user, { subject: 'News', text: 'Call the bank.' }),
      });
    return { org_id, owner, _id, address: user.email, mailAbout };
  }

  it('a mail that waited or is sent again goes to the member’s present address, and to nobody once the member has left', async () => {
    const { org_id, owner, _id, address: former, mailAbout } = await withMember();
    const present = `${randomUUID()}@in.example`;
    const { send, redelivered } = await mailAbout('task_assigned');
    mailServer.busyFor = 1;
    expect((await send()).status).toBe('retrying');
    await UserModel.updateOne({ _id }, { $set: { email: present } });
    expect((await redelivered()).status).toBe('delivered');
    expect([takenFor(former).length, takenFor(present).length]).toEqual([0, 1]);
    await removeMember(org_id, owner, _id);
    expect((await redelivered()).status).toBe('suppressed');
    expect(takenFor(present)).toHaveLength(1);
  });

  it('a member gets at most a hundred mails about tasks a day from one organization, is still told of customers, and nobody is notified of what is beyond the limit', async () => {
    const { org_id, address, mailAbout } = await withMember();
    for (let mails = 1; mails < taskMailsToMemberPerDay; mails++) {
      const mail = { orgId: org_id, address, use: newId('event') };
      expect(await admitToAddress('member', mail, secrets, clock())).toBeUndefined();
    }
    const last = await mailAbout('task_assigned');
    mailServer.busyFor = 1;
    expect((await last.send()).status).toBe('retrying');
    expect((await last.redelivered()).status).toBe('delivered');
    const beyond = await (await mailAbout('task_created')).send();
    expect(beyond).toMatchObject({ status: 'failed', error: outsideRefusals.address });
    // Nobody is notified, because nobody can mend it.
    expect((beyond.pending ?? []).map(({ workflow }) => workflow)).not.toContain('notices');
    expect((await (await mailAbout('customer_replied')).send()).status).toBe('delivered');
    expect(takenFor(address)).toHaveLength(2);
    // Another organization's mails have a count of their own.
    const elsewhere = { orgId: newId('org'), address, use: newId('event') };
    expect(await admitToAddress('member', elsewhere, secrets, clock())).toBeUndefined();
  });

  it('a member whose address objected to mails to people outside still gets the mails about tasks', async () => {
    const { org_id, address, mailAbout } = await withMember();
    await objectToMails(secrets, objectionToken(secrets, org_id, address, 'all'), 'all', clock());
    expect((await (await mailAbout('task_assigned')).send()).status).toBe('delivered');
    expect(takenFor(address)).toHaveLength(1);
  });
});

describe('a mail to somebody outside the organization', () => {
  it('each redelivery of an invitation counts towards its inviter’s mail limit, and further attempts at the same mail do not', async () => {
    const [org_id, inviter, address] = [newId('org'), newId('user'), `${randomUUID()}@out.example`];
    await createOrganization(newOrganization(org_id, 'Example', inviter, clock()));
    const { _id: use } = await replaceInvitation({
      _id: newId('invitation'),
      org_id,
      email: address,
      role: 'member',
      hash: randomUUID(),
      link_hash: randomUUID(),
      invited_by: inviter,
      created_at: clock(),
      expires_at: new Date(clock().getTime() + 7 * day),
    });
    // The API counts the first mail when it takes the invitation.
    const perDay = { organization: 100, account: outsideUnprovenPerDay };
    const outside = { orgId: org_id, address, account: inviter, use };
    expect(await admitOutsideMail(outside, { keys: secrets, perDay }, clock())).toBeUndefined();
    const { send, redelivered } = await stored({
      org_id,
      kind: 'notification',
      event_id: newId('event'),
      event_type: 'account.invitation',
      lane: 'mail',
      destination: address,
      payload: { account: { kind: 'invitation', invitation_id: use, email: address } },
    });
    expect((await send()).status).toBe('delivered');
    for (let mails = 1; mails < outsideUnprovenPerDay; mails++) {
      mailServer.busyFor = 1;
      expect((await redelivered()).status).toBe('retrying');
      expect((await redelivered()).status).toBe('delivered');
    }
    expect(await redelivered()).toMatchObject({ status: 'failed', error: outsideRefusals.account });
    expect(takenFor(address)).toHaveLength(outsideUnprovenPerDay);
  });

  /** A stored reply to an address that a visitor gave in the chat. */
  const replyTo = (orgId: string, address: string) => {
    const mail: OutgoingMail = {
      from: { name: 'Bank', address: 'support@bank.example' },
      to: { name: '', address },
      subject: 'Answer from Bank',
      text: 'The card is here.\n',
      date: clock().toISOString(),
      message_id: `<${randomUUID()}@bank.example>`,
      references: [],
      headers: {},
    };
    return stored({
      org_id: orgId,
      kind: 'email',
      event_id: newId('message'),
      event_type: 'conversation.replied',
      lane: `email:${newId('conversation')}`,
      destination: address,
      payload: { mail, via: 'deployment', outside: { organization: 'Bank' } },
    });
  };

  it('a mailed reply to an address that a visitor gave contains an unsubscribe link, whose secret is masked for members', async () => {
    const [orgId, address] = [newId('org'), `${randomUUID()}@out.example`];
    const { request } = await (await replyTo(orgId, address)).send();
    const token = objectionToken(secrets, orgId, address, 'all');
    const [sent] = takenFor(address);
    const host = 'http://127.0.0.1:3000';
    for (const [form, end] of [
      [{ text: sent!.text, headers: sent!.headers }, token],
      [{ text: request!.body, headers: request!.headers }, '***'],
    ] as const) {
      expect(form.text).toMatch(
        /^The card is here\.\n\n________\n“Bank” sends you this through 127\.0\.0\.1:3000, because/,
      );
      expect(form.text).toContain(`${host}/account#mail_stop=${end}\n`);
      expect(form.headers).toMatchObject({
        'List-Unsubscribe': `<${host}/v1/mail/objections/${end}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      });
    }
    expect(JSON.stringify(await deliveries(orgId))).not.toContain(token);
  });

  it('the unsubscribe link of a mail stops all organizations only when the deployment’s server sent the mail', async () => {
    const publicUrl = 'https://host.example';
    const deps = { mail: {} as MailSettings, secrets, publicUrl, clock };
    for (const [via, reach] of [
      ['organization', 'organization'],
      ['deployment', 'all'],
    ] as const) {
      const [orgId, address] = [newId('org'), `${randomUUID()}@out.example`];
      const mail = { to: { name: '', address }, text: 'Come.', headers: {} } as OutgoingMail;
      const about = { orgId, organization: 'Bank', why: 'invitation', via } as const;
      const { text, headers } = inFrame(mail, about, deps, { shown: false });
      const token = /#mail_stop=([\w.-]+)$/m.exec(text)![1]!;
      expect(headers['List-Unsubscribe']).toBe(`<${publicUrl}/v1/mail/objections/${token}>`);
      expect(text.includes('or of anybody')).toBe(reach === 'all');
      expect(token.endsWith('.all')).toBe(reach === 'all');
      // The signature covers the end `.all`, so a token whose end was changed is refused.
      const changed = reach === 'all' ? token.replace(/\.all$/, '') : `${token}.all`;
      expect(await objectToMails(secrets, changed, 'all', clock())).toBeUndefined();
      expect(await objectToMails(secrets, token, 'all', clock())).toBe(reach);
      expect(await hasObjected(secrets, orgId, address)).toBe(true);
      expect(await hasObjected(secrets, newId('org'), address)).toBe(reach === 'all');
    }
  });

  it('an address that a visitor gave gets at most ten replies a day from all organizations, redeliveries included', async () => {
    const [orgId, address] = [newId('org'), `${randomUUID()}@out.example`];
    const { send, redelivered } = await replyTo(orgId, address);
    expect((await send()).status).toBe('delivered');
    for (let mails = 1; mails < outsideToOnePerDay; mails++) expect((await redelivered()).status).toBe('delivered');
    const refused = { status: 'failed', error: outsideRefusals.address };
    expect(await redelivered()).toMatchObject(refused);
    // The limit is that of the address, whichever organization writes.
    expect(await (await replyTo(newId('org'), address)).send()).toMatchObject(refused);
    expect(takenFor(address)).toHaveLength(outsideToOnePerDay);
    const invitation = { orgId, address, account: newId('user'), use: newId('invitation') };
    expect(await admitOutsideMail(invitation, { keys: secrets, perDay: undefined }, clock())).toBeUndefined();
  });

  it('a stored reply to an address that a visitor gave is neither retried nor redelivered once the address has objected to mails', async () => {
    const [orgId, address] = [newId('org'), `${randomUUID()}@out.example`];
    const { send, redelivered } = await replyTo(orgId, address);
    mailServer.busyFor = 1;
    expect((await send()).status).toBe('retrying');
    await objectToMails(secrets, objectionToken(secrets, orgId, address, 'all'), 'organization', clock());
    for (let i = 0; i < 2; i++)
      expect(await redelivered()).toMatchObject({ status: 'failed', error: outsideRefusals.objected });
    expect(takenFor(address)).toEqual([]);
  });
});

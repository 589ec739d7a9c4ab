/**
 * Delivery attempts and how they change the state of their destination: the activities alone, with a clock that the
 * test moves.
 */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { delivering } from '../kit/delivering.ts';
import { until } from '../kit/harness.ts';
import { hang, status, type Receiver } from '../kit/receiver.ts';
import { receiversOfTest } from '../kit/receivers.ts';
import { inFlightPerDestination } from '../../activities/events/deliver.ts';
import { createOrganization, newOrganization } from '../../models/access/organization.ts';
import { NotificationModel } from '../../models/access/notification.ts';
import { newId } from '../../models/base/ids.ts';
import { actOn } from '../../models/chat/act.ts';
import { listDestinations } from '../../models/events/destination.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import { ticketLine } from '../../models/rules/events/delivery.ts';
import { everyRecord } from '../../models/base/define.ts';

/** The limits used in production. */
const patient = { totalTimeoutMs: 30_000, headersTimeoutMs: 10_000 };
/** Shorter limits for tests that wait until an attempt times out. */
const impatient = { totalTimeoutMs: 1_000, headersTimeoutMs: 1_000 };
const limits = { ...patient };
const { newOrg, newTicket, configure, sendEvents, sendSome, sendSlowly, deliveries, clock, move } = delivering(
  'attempts',
  { http: { egressAllow: ['127.0.0.1'] }, limits },
);
const newReceiver = receiversOfTest();
const day = 86_400_000;

const destinations = async (orgId: string) =>
  listDestinations(orgId, ['live'], (await findSupportConfig(orgId)).outbox_version);
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

  it('a ticket’s events are planned and sent at once when the destination is known to answer, and nothing is sent twice', async () => {
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

  it('a destination that fails gets a new period of five days when the settings are saved', async () => {
    const receiver = await newReceiver(status(500));
    const orgId = await newOrg(receiver.url);
    await sendSome(orgId, (await planned(orgId)).line);
    move(6 * day);
    await configure(orgId, { outbox_providers: ['webhook'] });
    await sendSome(orgId, (await planned(orgId)).line);
    expect(await destinations(orgId)).toMatchObject([{ status: 'failing' }]);
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

  it('a destination has a limit of concurrent attempts; excess ones are postponed, and other destinations are not affected', async () => {
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

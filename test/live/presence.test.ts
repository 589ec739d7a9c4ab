/** People count as present while a live process holds a socket of theirs. */
import { describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { modelsIn } from '../kit/database.ts';
import { until } from '../kit/harness.ts';
import { createPresence } from '../../api/live/presence.ts';
import { newId } from '../../models/base/ids.ts';
import {
  lastSeen,
  memberPresence,
  membersHere,
  noteAlive,
  notePresence,
  PresenceModel,
} from '../../models/live/presence.ts';

modelsIn('presence');

const orgId = newId('org');
const at = (seconds: number) => new Date(Date.now() + seconds * 1000);

describe('lastSeen', () => {
  it('lastSeen returns the current time for a connected person, and otherwise the time of that person’s last connection', async () => {
    const customerId = newId('customer');
    const [one, other, came] = [newId('request'), newId('request'), at(-100)];
    expect(await lastSeen({ orgId, personId: customerId }, at(0))).toBeUndefined();
    for (const process of [one, other]) {
      await noteAlive(process, came);
      await notePresence(process, [{ orgId, personId: customerId, present: true }], came);
    }
    // Neither process has reported for 100 s, so both count as dead.
    expect(await lastSeen({ orgId, personId: customerId }, at(0))).toEqual(came);
    const now = at(0);
    await noteAlive(one, now);
    expect(await lastSeen({ orgId, personId: customerId }, now)).toEqual(now);
    await notePresence(one, [{ orgId, personId: customerId, present: false }], now);
    expect(await lastSeen({ orgId, personId: customerId }, at(60))).toEqual(now);
    expect(await lastSeen({ orgId: newId('org'), personId: customerId }, now)).toBeUndefined();
  });
});

describe('membersHere', () => {
  it('membersHere returns those of the given members who have a socket of the organization at a process that is alive', async () => {
    const [here, gone, elsewhere, never] = [newId('user'), newId('user'), newId('user'), newId('user')];
    const [process, dead, now] = [newId('request'), newId('request'), at(0)];
    const came = (userId: string, by: string, org = orgId) =>
      notePresence(by, [{ orgId: org, personId: memberPresence(org, userId), present: true }], now);
    await noteAlive(process, now);
    await noteAlive(dead, at(-100));
    await Promise.all([came(here, process), came(gone, dead), came(elsewhere, process, newId('org'))]);
    expect(await membersHere(orgId, [never, gone, elsewhere, here], now)).toEqual([here]);
    expect(await membersHere(orgId, [], now)).toEqual([]);
  });
});

describe('the sockets of a process', () => {
  it('a process records each of 200 customers as present until the customer’s last socket closes', async () => {
    const presence = createPresence({ clock: () => new Date(), log: pino({ level: 'silent' }) });
    const customers = Array.from({ length: 200 }, () => ({ orgId, personId: newId('customer') }));
    for (const one of [...customers, customers[0]!]) presence.came(one);
    const ids = customers.map(({ personId }) => personId);
    const present = () => PresenceModel.countDocuments({ _id: { $in: ids }, 'processes.0': { $exists: true } });
    await until(async () => (await present()) === 200, 'all to be written down');
    for (const one of customers) presence.left(one);
    await until(async () => (await present()) === 1, 'all but one to have left');
    presence.left(customers[0]!);
    await presence.close();
    expect(await present()).toBe(0);
  });
});

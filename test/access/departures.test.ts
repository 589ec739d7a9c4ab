/** What happens to the keys, invitations and tasks of a removed member, even when a process dies meanwhile. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { modelsIn, openClient } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';
import { createDepartureActivities } from '../../activities/access/departure.ts';
import { memberDepartedWork } from '../../models/rules/access/work.ts';

const api = system();
modelsIn('shared');
let mongo: MongoClient;
let db: Db;
beforeAll(async () => {
  mongo = await openClient(systemEnv('shared')['MONGODB_URI']!);
  db = mongo.db();
});
afterAll(() => mongo.close());

async function withMember(): Promise<{ org: TestOrg; bob: TestUser }> {
  const org = await api.newOrg();
  const bob = await api.join(org);
  return { org, bob };
}
const call = (org: TestOrg, method: string, path = '', body?: object) =>
  api.request(method, `/orgs/${org.orgId}${path}`, { token: org.owner.token, ...(body ? { body } : {}) });
const taskOf = async (org: TestOrg, user: TestUser, status?: string): Promise<string> => {
  const task = { title: 'Send the sheet', assigned_to: user.userId };
  const id = (await call(org, 'POST', '/tasks', task)).body.data.task_id as string;
  if (status) await call(org, 'PUT', `/tasks/${id}`, { status });
  return id;
};
const keyPath = (org: TestOrg, keyId?: string) =>
  `/support/developer-keys/orgs/${org.orgId}/keys${keyId === undefined ? '' : `/${keyId}`}`;
const self = (token: string) => api.request('GET', '/support/developer-keys/self', { token });
const read = async (org: TestOrg, id: string) => (await call(org, 'GET', `/tasks/${id}`)).body.data;
const given = (org: TestOrg, id: string) =>
  until(async () => {
    const task = await read(org, id);
    return task.assigned_to === null && task;
  }, 'the task to be given up');

describe('DELETE /orgs/{orgId}/members/{userId}', () => {
  it('removing a member unassigns the member’s open tasks with a note, and leaves completed tasks assigned', async () => {
    const { org, bob } = await withMember();
    const [pending, begun, done] = [
      await taskOf(org, bob),
      await taskOf(org, bob, 'in_progress'),
      await taskOf(org, bob, 'completed'),
    ];
    const others = await taskOf(org, org.owner);
    expect((await call(org, 'DELETE', `/members/${bob.userId}`)).status).toBe(200);
    for (const id of [pending, begun]) {
      const note = `${(await db.collection('users').findOne({ email: bob.email }))!['name']} is no longer a member.`;
      expect((await given(org, id)).history.at(-1)).toMatchObject({
        source: 'membership',
        changed: ['assigned_to'],
        note,
      });
    }
    expect((await read(org, done)).assigned_to).toBe(bob.userId);
    expect((await read(org, others)).assigned_to).toBe(org.owner.userId);
    const again = await call(org, 'PUT', `/tasks/${done}`, { status: 'pending' });
    expect(again.body.data).toMatchObject({ status: 'pending', assigned_to: null });
  });

  it('a refused removal of a member changes nothing', async () => {
    const { org } = await withMember();
    const id = await taskOf(org, org.owner);
    expect((await call(org, 'DELETE', `/members/${org.owner.userId}`)).status).toBe(409);
    expect(await db.collection('departures').countDocuments({ org_id: org.orgId })).toBe(0);
    expect((await read(org, id)).assigned_to).toBe(org.owner.userId);
  });

  it('removing a member revokes only the keys that the member created, and the answer lists the revoked keys', async () => {
    const { org, bob } = await withMember();
    const [ours, first, second] = [
      await api.newKey(org),
      await api.newKey({ ...org, owner: bob }),
      await api.newKey({ ...org, owner: bob }, { mode: 'live' }),
    ];
    await api.request('DELETE', keyPath(org, first.keyId), { token: org.owner.token });
    const removed = await call(org, 'DELETE', `/members/${bob.userId}`);
    expect(removed.body.data).toEqual({
      userId: bob.userId,
      removed: true,
      revoked_keys: [{ key_id: second.keyId, name: 'test key', token_prefix: second.token.slice(0, 16) }],
      kept_keys: [],
    });
    await until(async () => (await self(second.token)).status === 401, 'the key to be refused');
    expect((await self(ours.token)).status).toBe(200);
  });

  it('the keys of a member who leaves voluntarily are revoked', async () => {
    const { org, bob } = await withMember();
    const { token, keyId } = await api.newKey({ ...org, owner: bob });
    const left = await api.request('DELETE', `/orgs/${org.orgId}/members/${bob.userId}`, { token: bob.token });
    expect(left.body.data.revoked_keys).toMatchObject([{ key_id: keyId }]);
    await until(async () => (await self(token)).status === 401, 'the key to be refused');
  });

  it('a removal with keep_keys transfers the member’s keys to the owner who requests the removal', async () => {
    const { org, bob } = await withMember();
    const admin = await api.join(org, 'admin');
    const { token, keyId } = await api.newKey({ ...org, owner: bob });
    const keep = (by: TestUser, who = bob) =>
      api.request('DELETE', `/orgs/${org.orgId}/members/${who.userId}?keep_keys=true`, { token: by.token });
    expect((await keep(admin)).body.code).toBe('MISSING_ROLE');
    const second = await api.join(org, 'owner');
    expect((await keep(second, second)).status).toBe(400);
    expect((await self(token)).status).toBe(200);
    const removed = await keep(org.owner);
    expect(removed.body.data).toMatchObject({ revoked_keys: [], kept_keys: [{ key_id: keyId, name: 'test key' }] });
    expect((await self(token)).status).toBe(200);
    const { keys } = (await api.request('GET', keyPath(org), { token: org.owner.token })).body.data;
    expect(keys).toMatchObject([{ key_id: keyId, status: 'active', created_by_user_id: org.owner.userId }]);
    // `ops restart` needs this record after a restore.
    expect(await db.collection('departures').findOne({ org_id: org.orgId })).toMatchObject({
      keep_keys_for: org.owner.userId,
    });
  });

  it('when a member is removed while their requests to create keys are running, none of these keys stays active', async () => {
    const { org, bob } = await withMember();
    const asked = Array.from({ length: 12 }, () =>
      api.request('POST', keyPath(org), { token: bob.token, body: { name: 'late' } }),
    );
    const [removed, ...made] = await Promise.all([call(org, 'DELETE', `/members/${bob.userId}`), ...asked]);
    expect(removed.status).toBe(200);
    for (const { status } of made) expect([201, 404]).toContain(status);
    const { keys } = (await api.request('GET', `${keyPath(org)}?limit=100`, { token: org.owner.token })).body.data;
    expect(keys.filter(({ status }: { status: string }) => status !== 'revoked')).toEqual([]);
  });

  it('removing a member revokes the invitations that the member sent, also accepted ones whose membership was not stored', async () => {
    const org = await api.newOrg();
    const admin = await api.join(org, 'admin');
    const [first, second] = [await api.newUser(), await api.newUser()];
    for (const { email } of [first, second]) {
      const body = { email, role: 'member' };
      await api.request('POST', `/orgs/${org.orgId}/invitations`, { token: admin.token, body });
    }
    // The state of a process that died right after the second invitation was accepted.
    await db
      .collection('invitations')
      .updateOne({ email: second.email }, { $set: { status: 'accepted', accepted_by: second.userId } });
    await call(org, 'DELETE', `/members/${admin.userId}`);
    const { invitations } = (await call(org, 'GET', '/invitations')).body.data;
    expect(invitations).toMatchObject([
      { email: second.email, status: 'revoked' },
      { email: first.email, status: 'revoked' },
      { status: 'accepted' },
    ]);
  });

  it('a removed member can accept a new invitation, even when the steps of the removal were repeated in between', async () => {
    const { org, bob } = await withMember();
    expect((await call(org, 'DELETE', `/members/${bob.userId}`)).status).toBe(200);
    const invited = await call(org, 'POST', '/invitations', { email: bob.email, role: 'member' });
    expect(invited.status).toBe(201);
    const { _id, left_at } = (await db.collection('departures').findOne({ org_id: org.orgId }))!;
    const leaving = { userId: bob.userId, keepKeysFor: undefined, leftAt: left_at as Date };
    const [ref] = memberDepartedWork(org.orgId, String(_id), leaving).args;
    await createDepartureActivities({ clock: () => new Date() }).endGrants(ref);
    const token = /#invitation=(.+)$/.exec(invited.body.data.link)![1]!;
    const joined = await api.request('POST', '/auth/invitations/accept', { token: bob.token, body: { token } });
    expect([joined.status, joined.body.data]).toMatchObject([200, { organization: { role: 'member' } }]);
  });

  it('when the process dies right after removing a member, the sweeper unassigns the member’s tasks and revokes the member’s keys', async () => {
    const { org, bob } = await withMember();
    const id = await taskOf(org, bob);
    const key = await api.newKey({ ...org, owner: bob });
    const intent = {
      workflow: 'memberDeparted',
      workflow_id: `departure:dep_${id}`,
      queue: 'tasks',
      args: [{ orgId: org.orgId, userId: bob.userId, leftAt: new Date().toISOString() }],
      next_at: new Date(0),
      tries: 0,
    };
    await db
      .collection<{ _id: string }>('organizations')
      .updateOne({ _id: org.orgId }, { $pull: { members: { user_id: bob.userId } } as never });
    await db.collection<{ _id: string }>('departures').insertOne({
      _id: `dep_${id}`,
      org_id: org.orgId,
      mode: 'test',
      user_id: bob.userId,
      left_at: new Date(),
      expires_at: new Date(Date.now() + 3_600_000),
      pending: [intent],
    } as never);
    expect(await given(org, id)).toMatchObject({ assigned_to: null });
    expect((await self(key.token)).status).toBe(401);
  });
});

/** Members who are taken out: what becomes of their tasks, whatever dies in between. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';

const api = system();
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
const read = async (org: TestOrg, id: string) => (await call(org, 'GET', `/tasks/${id}`)).body.data;
const given = (org: TestOrg, id: string) =>
  until(async () => {
    const task = await read(org, id);
    return task.assigned_to === null && task;
  }, 'the task to be given up');

describe('DELETE /orgs/{orgId}/members/{userId}', () => {
  it('gives up their open tasks, and says why; what they finished stays theirs, until it is taken up again', async () => {
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

  it('that is refused takes nothing from anybody, and leaves no note', async () => {
    const { org } = await withMember();
    const id = await taskOf(org, org.owner);
    expect((await call(org, 'DELETE', `/members/${org.owner.userId}`)).status).toBe(409);
    expect(await db.collection('departures').countDocuments({ org_id: org.orgId })).toBe(0);
    expect((await read(org, id)).assigned_to).toBe(org.owner.userId);
  });

  it('whose process died after the member was gone is brought to its end by the sweeper', async () => {
    const { org, bob } = await withMember();
    const id = await taskOf(org, bob);
    const intent = {
      workflow: 'memberDeparted',
      workflow_id: `departure:dep_${id}`,
      queue: 'tasks',
      args: [{ orgId: org.orgId, userId: bob.userId }],
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
      expires_at: new Date(Date.now() + 3_600_000),
      pending: [intent],
    } as never);
    expect(await given(org, id)).toMatchObject({ assigned_to: null });
  });
});

import { expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { system, type TestOrg, type TestUser } from '../kit/harness.ts';
import { newId } from '../../models/base/ids.ts';
import { maxCannedReplies } from '../../models/rules/chat/cannedreply.ts';

const api = system();
const db = sharedDatabase();
type Shown = { reply_id: string; shortcut: string; body: string; shared: boolean };
const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', org: TestOrg, user: TestUser, path = '', body?: object) =>
  api.request(method, `/support/replies/orgs/${org.orgId}${path}`, { token: user.token, ...(body ? { body } : {}) });
const listed = async (org: TestOrg, user: TestUser): Promise<string[]> =>
  (await call('GET', org, user)).body.data.replies.map(({ shortcut, shared }: Shown) => `${shortcut} ${shared}`);

it('a member sees their own canned replies and those that admins share, and changes and deletes their own', async () => {
  const org = await api.newOrg();
  const bob = await api.join(org);
  const add = (user: TestUser, body: object) => call('POST', org, user, '', body);
  expect((await add(org.owner, { shortcut: 'thanks', body: 'Thank you.', shared: true })).status).toBe(201);
  expect((await add(org.owner, { shortcut: 'mine', body: 'Mine.' })).status).toBe(201);
  const own = await add(bob, { shortcut: 'thanks', body: 'Thanks a lot.' });
  expect(await listed(org, bob)).toEqual(['thanks false', 'thanks true']);
  expect(await listed(org, org.owner)).toEqual(['mine false', 'thanks true']);
  const { reply_id } = own.body.data.reply as Shown;
  const changed = await call('PATCH', org, bob, `/${reply_id}`, { shortcut: 'cheers' });
  expect(changed.body.data.reply).toMatchObject({ shortcut: 'cheers', body: 'Thanks a lot.', shared: false });
  expect((await call('DELETE', org, bob, `/${reply_id}`)).status).toBe(200);
  expect(await listed(org, bob)).toEqual(['thanks true']);
});

it('members cannot change each other’s canned replies, and only admins can share replies', async () => {
  const [org, foreign] = [await api.newOrg(), await api.newOrg()];
  const bob = await api.join(org);
  const add = async (user: TestUser, body: object) =>
    (await call('POST', org, user, '', body)).body.data?.reply as Shown;
  const shared = await add(org.owner, { shortcut: 'thanks', body: 'Thank you.', shared: true });
  const owners = await add(org.owner, { shortcut: 'mine', body: 'Mine.' });
  const bobs = await add(bob, { shortcut: 'cheers', body: 'Cheers.' });
  const status = async (user: TestUser, method: 'PATCH' | 'DELETE', { reply_id }: Shown, body?: object) =>
    (await call(method, org, user, `/${reply_id}`, body)).status;
  expect(await status(bob, 'PATCH', shared, { body: 'No.' })).toBe(403);
  expect(await status(bob, 'DELETE', shared)).toBe(403);
  expect(await status(bob, 'PATCH', bobs, { shared: true })).toBe(403);
  expect(await status(bob, 'DELETE', owners)).toBe(404);
  expect((await call('POST', org, bob, '', { shortcut: 'x', body: 'x', shared: true })).status).toBe(403);
  expect((await call('POST', org, bob, '', { shortcut: 'cheers', body: 'Twice.' })).status).toBe(409);
  expect((await call('POST', org, bob, '', { shortcut: 'two words', body: 'x' })).status).toBe(400);
  const second = await add(bob, { shortcut: 'bye', body: 'Bye.' });
  expect(await status(bob, 'PATCH', second, { shortcut: 'cheers' })).toBe(409);
  expect((await call('GET', org, foreign.owner)).status).toBe(404);
  expect((await call('DELETE', foreign, foreign.owner, `/${shared.reply_id}`)).status).toBe(404);
});

it('a canned reply cannot be shared when all members have as many replies as there may be', async () => {
  const org = await api.newOrg();
  const now = new Date();
  const shared = Array.from({ length: maxCannedReplies }, (_, at) => ({
    _id: newId('cannedReply'),
    org_id: org.orgId,
    owner: null,
    shortcut: `shared${at}`,
    body: 'Thank you.',
    created_at: now,
    updated_at: now,
  }));
  const replies = db().collection<{ _id: string }>('canned_replies');
  await replies.insertMany(shared);
  const added = await call('POST', org, org.owner, '', { shortcut: 'mine', body: 'Mine.' });
  const { reply_id } = added.body.data.reply as Shown;
  const change = async (replyId: string) =>
    (await call('PATCH', org, org.owner, `/${replyId}`, { shared: true, body: 'Thanks.' })).status;
  expect(await change(reply_id)).toBe(409);
  // A reply that is shared already takes no further place.
  expect(await change(shared[0]!._id)).toBe(200);
  await replies.deleteOne({ _id: shared[1]!._id });
  expect(await change(reply_id)).toBe(200);
});

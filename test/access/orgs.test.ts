/** Organizations: who can see them, who may change their members, and that one owner always stays. */
import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { modelsIn, proveAddresses, sharedDatabase } from '../kit/database.ts';
import { system, type Reply, type TestOrg, type TestUser } from '../kit/harness.ts';
import { box } from '../kit/inbound.ts';
import { orgRoutes } from '../../api/access/routes/orgs.ts';
import type { Context } from '../../api/context.ts';
import { addMember, findOrganization } from '../../models/access/organization.ts';
import { objectionToken, objectToMails } from '../../models/events/outsidemail.ts';
import type { Role } from '../../models/rules/access/roles.ts';
import { outsideToOnePerDay } from '../../models/rules/events/outsidemail.ts';

const api = system();
const db = sharedDatabase();
modelsIn('shared');

const add = (org: TestOrg, by: TestUser, email: string, role: Role) =>
  api.request('POST', `/orgs/${org.orgId}/members`, { token: by.token, body: { email, role } });
const remove = (org: TestOrg, by: TestUser, userId: string) =>
  api.request('DELETE', `/orgs/${org.orgId}/members/${userId}`, { token: by.token });
const membersOf = async (org: TestOrg, by = org.owner) =>
  (await api.request('GET', `/orgs/${org.orgId}/members`, { token: by.token })).body.data;

const joined = (org: TestOrg, role: Role): Promise<TestUser> => api.join(org, role);

/** A new user whose e-mail address is proven. */
async function provenUser(): Promise<TestUser> {
  const user = await api.newUser();
  await proveAddresses(db(), user);
  return user;
}
const tokenOf = ({ body }: Reply): string => /\/account#invitation=([\w-]{43})$/.exec(body.data.link)![1]!;
const accept = (token: string, by: TestUser) =>
  api.request('POST', '/auth/invitations/accept', { token: by.token, body: { token } });

describe('POST /orgs', () => {
  it('POST /orgs creates a sandbox organization whose creator is the owner', async () => {
    const user = await api.newUser();
    const { status, body } = await api.request('POST', '/orgs', { token: user.token, body: { name: 'First Bank' } });
    expect([status, body.data]).toEqual([
      201,
      {
        org_id: expect.stringMatching(/^org_[0-9A-Z]{26}$/),
        name: 'First Bank',
        environment: 'sandbox',
        role: 'owner',
        created_at: expect.any(String),
      },
    ]);
  });

  it('POST /orgs creates one organization when a request is repeated with the same Idempotency-Key', async () => {
    const user = await api.newUser();
    const send = (name: string) =>
      api.request('POST', '/orgs', { token: user.token, body: { name }, headers: { 'idempotency-key': 'once' } });
    const [first, second] = [await send('Bank'), await send('Bank')];
    expect([second.status, second.body, second.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true']);
    expect((await send('Another')).body.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await api.request('GET', '/orgs', { token: user.token })).body.data.organizations).toHaveLength(1);
  });
});

describe('GET /orgs', () => {
  it('GET /orgs lists the user’s organizations in pages, newest first, each once, even while new ones are created', async () => {
    const user = await api.newUser();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await api.newOrg(user)).orgId);
    await api.newOrg();
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { data: { organizations: { org_id: string }[]; cursor: string | null } } } =
        await api.request('GET', `/orgs?limit=2${cursor ? `&cursor=${cursor}` : ''}`, { token: user.token });
      seen.push(...body.data.organizations.map((o) => o.org_id));
      cursor = body.data.cursor;
      if (seen.length === 2) await api.newOrg(user);
    } while (cursor);
    expect(seen).toEqual(ids);
  });

  it.each(['limit=0', 'limit=-1', 'limit=x', 'limit=1.5', 'cursor=nonsense'])(
    'GET /orgs refuses ?%s with 400',
    async (query) => {
      const user = await api.newUser();
      expect((await api.request('GET', `/orgs?${query}`, { token: user.token })).status).toBe(400);
    },
  );
});

describe('members', () => {
  it('every member sees the list of members with their roles, in the order they joined', async () => {
    const org = await api.newOrg();
    const admin = await joined(org, 'admin');
    const plain = await joined(org, 'member');
    const { members, count } = await membersOf(org, plain);
    expect(count).toBe(3);
    expect(members.map((m: { userId: string; email: string; role: string }) => [m.userId, m.email, m.role])).toEqual([
      [org.owner.userId, org.owner.email, 'owner'],
      [admin.userId, admin.email, 'admin'],
      [plain.userId, plain.email, 'member'],
    ]);
    expect(JSON.stringify(members)).not.toContain('password');
  });

  it('the route that lists the members returns no secret of an account, even before its reply is checked against the schema', async () => {
    const { orgId } = await api.newOrg();
    const { handle } = orgRoutes.find(({ name }) => name === 'listMembers')!;
    const input = { query: {}, principal: { org: await findOrganization(orgId) } };
    const { members } = (await handle(input as never, { clock: () => new Date() } as Context)) as { members: object[] };
    expect(members.map((member) => Object.keys(member).toSorted())).toEqual([
      ['email', 'email_verified', 'joined_at', 'name', 'picture', 'role', 'state', 'userId'],
    ]);
  });

  it('the members can be listed page by page, each once, even when the last member of a page leaves', async () => {
    const org = await api.newOrg();
    const [second, third] = [await joined(org, 'member'), await joined(org, 'member')];
    const page = async (query: string) =>
      (await api.request('GET', `/orgs/${org.orgId}/members?${query}`, { token: org.owner.token })).body.data;
    const ids = ({ members }: { members: { userId: string }[] }) => members.map(({ userId }) => userId);
    const first = await page('limit=2');
    expect([ids(first), first.count]).toEqual([[org.owner.userId, second.userId], 3]);
    await remove(org, org.owner, second.userId);
    const last = await page(`limit=2&cursor=${first.cursor}`);
    expect([ids(last), last.count, last.cursor]).toEqual([[third.userId], 2, null]);
  });

  it('members see the organization with their own role, also in GET /auth/me', async () => {
    const org = await api.newOrg();
    const plain = await joined(org, 'member');
    expect((await api.request('GET', `/orgs/${org.orgId}`, { token: plain.token })).body.data.role).toBe('member');
    const { body } = await api.request('GET', '/auth/me', { token: plain.token });
    expect(body.data.organizations).toEqual([{ org_id: org.orgId, name: 'Test Organization', role: 'member' }]);
  });
});

describe('POST /orgs/{orgId}/members', () => {
  it('a user with a proven address becomes a member as soon as they are added, in any spelling of the address', async () => {
    const org = await api.newOrg();
    const user = await provenUser();
    const { status, body } = await add(org, org.owner, ` ${user.email.toUpperCase()}`, 'member');
    expect([status, body.data]).toEqual([
      201,
      { member: expect.objectContaining({ userId: user.userId, email: user.email, role: 'member' }) },
    ]);
  });

  it('adding an unproven address creates an invitation, and the account with that address joins only through the invitation’s link', async () => {
    const org = await api.newOrg();
    const squatter = await api.newUser();
    const invited = await add(org, org.owner, squatter.email, 'admin');
    expect([invited.status, invited.body.data]).toEqual([
      202,
      {
        invitation: expect.objectContaining({ email: squatter.email, role: 'admin', status: 'pending' }),
        link: expect.any(String),
      },
    ]);
    expect((await membersOf(org)).count).toBe(1);
    expect((await api.request('GET', `/orgs/${org.orgId}`, { token: squatter.token })).status).toBe(404);
    const { data } = (await api.request('GET', `/orgs/${org.orgId}/invitations`, { token: org.owner.token })).body;
    expect(JSON.stringify(data)).not.toContain(tokenOf(invited));
    expect(JSON.stringify(await db().collection('invitations').find({ org_id: org.orgId }).toArray())).not.toContain(
      tokenOf(invited),
    );
    // The link is for this address only, and does not prove who owns the mailbox.
    expect((await accept(tokenOf(invited), await api.newUser())).body.code).toBe('LINK_OVER');
    expect((await accept(tokenOf(invited), squatter)).status).toBe(200);
    expect((await membersOf(org)).members.at(-1)).toMatchObject({ email: squatter.email, email_verified: false });
    expect((await accept(tokenOf(invited), squatter)).body.code).toBe('LINK_OVER');
  });

  it('an address without an account is invited by a link, and stays unproven when an account is created through that link', async () => {
    const org = await api.newOrg();
    const email = `${randomUUID()}@example.com`;
    const invited = await add(org, org.owner, email, 'member');
    expect(invited.status).toBe(202);
    const body = { token: tokenOf(invited), name: 'Newcomer', password: 'correct horse battery' };
    expect((await api.request('POST', '/auth/invitations/register', { body })).status).toBe(201);
    expect((await membersOf(org)).members.at(-1)).toMatchObject({ email, email_verified: false });
    // Another organization must not treat the address as proven either.
    const other = await api.newOrg();
    expect((await add(other, other.owner, email, 'admin')).status).toBe(202);
  });

  it('only the latest invitation link of an address is valid', async () => {
    const org = await api.newOrg();
    const user = await api.newUser();
    const first = await add(org, org.owner, user.email, 'owner');
    const body = { email: user.email, role: 'member' };
    const second = await api.request('POST', `/orgs/${org.orgId}/invitations`, { token: org.owner.token, body });
    expect(second.status).toBe(201);
    expect((await accept(tokenOf(first), user)).body.code).toBe('LINK_OVER');
    expect((await accept(tokenOf(second), user)).body.data.organization.role).toBe('member');
  });

  it('adding an existing member is refused with 409, whatever the role', async () => {
    const org = await api.newOrg();
    const user = await joined(org, 'member');
    const again = await add(org, org.owner, user.email, 'owner');
    expect([again.status, again.body.code]).toEqual([409, 'ALREADY_MEMBER']);
    expect((await membersOf(org)).count).toBe(2);
  });

  it('a user who left joins again only through an invitation, and a user whom an admin removed is added again', async () => {
    const org = await api.newOrg();
    const [leaving, removed] = [await provenUser(), await provenUser()];
    for (const { email } of [leaving, removed]) expect((await add(org, org.owner, email, 'member')).status).toBe(201);
    expect((await remove(org, leaving, leaving.userId)).status).toBe(200);
    expect((await remove(org, org.owner, removed.userId)).status).toBe(200);
    expect((await add(org, org.owner, removed.email, 'member')).status).toBe(201);
    const invited = await add(org, org.owner, leaving.email, 'member');
    expect([invited.status, invited.body.data.invitation]).toMatchObject([202, { email: leaving.email }]);
    expect((await membersOf(org)).count).toBe(2);
    // A request that began before the user left does not add the user either.
    const entry = { user_id: leaving.userId, role: 'member' as const, joined_at: new Date() };
    await expect(addMember(org.orgId, org.owner.userId, entry)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await accept(tokenOf(invited), leaving)).status).toBe(200);
    // A person who has joined again is like any other member: after a removal, an admin can add the person.
    expect((await remove(org, org.owner, leaving.userId)).status).toBe(200);
    expect((await add(org, org.owner, leaving.email, 'member')).status).toBe(201);
  });

  it('a user whose address objected to mails is invited instead of added', async () => {
    const org = await api.newOrg();
    const user = await provenUser();
    const token = objectionToken(box, org.orgId, user.email, 'organization');
    expect(await objectToMails(box, token, 'organization', new Date())).toBe('organization');
    const invited = await add(org, org.owner, user.email, 'member');
    expect([invited.status, (await membersOf(org)).count]).toEqual([202, 1]);
    expect((await accept(tokenOf(invited), user)).status).toBe(200);
    expect((await membersOf(org)).count).toBe(2);
  });

  it('a user is added to at most ten organizations a day, whoever adds the user, and gets 429 from then on', async () => {
    const [user, owner] = [await provenUser(), await provenUser()];
    const orgs: TestOrg[] = [];
    for (let i = 0; i < outsideToOnePerDay; i++) {
      orgs.push(await api.newOrg(owner));
      expect((await add(orgs[i]!, owner, user.email, 'member')).status).toBe(201);
    }
    const stranger = await api.newOrg();
    const refused = await add(stranger, stranger.owner, user.email, 'member');
    expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.body.error).toContain('additions to organizations');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await membersOf(stranger)).count).toBe(1);
    // A member who is taken out and added again in the same day counts once.
    expect((await remove(orgs[0]!, owner, user.userId)).status).toBe(200);
    expect((await add(orgs[0]!, owner, user.email, 'member')).status).toBe(201);
  });

  it('a user is added once when several requests add them at the same time', async () => {
    const org = await api.newOrg();
    const user = await provenUser();
    const answers = await Promise.all(Array.from({ length: 6 }, () => add(org, org.owner, user.email, 'member')));
    expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect((await membersOf(org)).count).toBe(2);
  });

  it('only admins may add members, and only owners may add owners: 403', async () => {
    const org = await api.newOrg();
    const [admin, plain, newcomer] = [await joined(org, 'admin'), await joined(org, 'member'), await provenUser()];
    expect((await add(org, plain, newcomer.email, 'member')).body.code).toBe('MISSING_ROLE');
    expect((await add(org, admin, newcomer.email, 'owner')).body.code).toBe('MISSING_ROLE');
    // A member who may not add others must not learn from the answer whether an account exists either.
    expect((await add(org, admin, 'nobody-at-all@example.com', 'owner')).body.code).toBe('MISSING_ROLE');
    expect((await add(org, admin, newcomer.email, 'admin')).status).toBe(201);
  });

  it.each([
    { email: 'a@b.example', role: 'god' },
    { email: 'a@b.example' },
    { email: 'a@b.example', role: 'member', org_id: 'x' },
  ])('adding a member refuses %j with 400', async (body) => {
    const org = await api.newOrg();
    expect((await api.request('POST', `/orgs/${org.orgId}/members`, { token: org.owner.token, body })).status).toBe(
      400,
    );
  });
});

describe('PATCH /orgs/{orgId}/members/{userId}', () => {
  const change = (org: TestOrg, by: TestUser, userId: string, role: Role) =>
    api.request('PATCH', `/orgs/${org.orgId}/members/${userId}`, { token: by.token, body: { role } });

  it('a member’s new role applies from the next request on', async () => {
    const org = await api.newOrg();
    const plain = await joined(org, 'member');
    const { status, body } = await change(org, org.owner, plain.userId, 'admin');
    expect([status, body.data.member]).toMatchObject([200, { userId: plain.userId, role: 'admin' }]);
    const newcomer = await provenUser();
    expect((await add(org, plain, newcomer.email, 'member')).status).toBe(201);
    await change(org, org.owner, plain.userId, 'member');
    expect((await add(org, plain, newcomer.email, 'member')).body.code).toBe('MISSING_ROLE');
    expect((await change(org, org.owner, plain.userId, 'member')).status).toBe(200);
  });

  it('changing a role requires an owner, who may step down while there is another owner', async () => {
    const org = await api.newOrg();
    const [admin, plain] = [await joined(org, 'admin'), await joined(org, 'member')];
    for (const by of [admin, plain])
      for (const target of [org.owner, admin, plain])
        expect((await change(org, by, target.userId, 'owner')).body.code).toBe('MISSING_ROLE');
    const last = await change(org, org.owner, org.owner.userId, 'member');
    expect([last.status, last.body.code]).toEqual([409, 'LAST_OWNER']);
    await change(org, org.owner, admin.userId, 'owner');
    expect((await change(org, org.owner, org.owner.userId, 'member')).status).toBe(200);
    expect((await change(org, org.owner, plain.userId, 'admin')).body.code).toBe('MISSING_ROLE');
  });

  it('changing a role answers 404 for a user who is not a member, and 400 for an unknown role', async () => {
    const org = await api.newOrg();
    const stranger = await api.newUser();
    expect((await change(org, org.owner, stranger.userId, 'admin')).status).toBe(404);
    expect((await change(org, org.owner, org.owner.userId, 'god' as Role)).status).toBe(400);
  });

  it('when the only two owners step down or demote each other at the same time, one of them stays an owner', async () => {
    for (let round = 0; round < 8; round++) {
      const org = await api.newOrg();
      const second = await joined(org, 'owner');
      const targets = round % 2 === 0 ? [org.owner, second] : [second, org.owner];
      await Promise.all([
        change(org, org.owner, targets[0]!.userId, 'member'),
        change(org, second, targets[1]!.userId, 'member'),
      ]);
      const { members } = await membersOf(org);
      expect(members.filter(({ role }: { role: Role }) => role === 'owner')).toHaveLength(1);
    }
  });
});

describe('DELETE /orgs/{orgId}/members/{userId}', () => {
  it('removing a member ends the membership at once: later requests to the organization get 404', async () => {
    const org = await api.newOrg();
    const plain = await joined(org, 'member');
    const { status, body } = await remove(org, org.owner, plain.userId);
    expect([status, body.data]).toEqual([
      200,
      { userId: plain.userId, removed: true, revoked_keys: [], kept_keys: [] },
    ]);
    expect((await api.request('GET', `/orgs/${org.orgId}`, { token: plain.token })).status).toBe(404);
    expect((await api.request('GET', `/orgs/${org.orgId}/documents`, { token: plain.token })).status).toBe(404);
    expect((await remove(org, org.owner, plain.userId)).status).toBe(404);
  });

  it('a member may leave, but not remove others: 403', async () => {
    const org = await api.newOrg();
    const [plain, other] = [await joined(org, 'member'), await joined(org, 'member')];
    expect((await remove(org, plain, other.userId)).body.code).toBe('MISSING_ROLE');
    expect((await remove(org, plain, plain.userId)).status).toBe(200);
  });

  it('an admin may remove members and admins, but not owners: 403', async () => {
    const org = await api.newOrg();
    const [admin, other, plain] = [await joined(org, 'admin'), await joined(org, 'admin'), await joined(org, 'member')];
    expect((await remove(org, admin, org.owner.userId)).body.code).toBe('MISSING_ROLE');
    expect((await remove(org, admin, other.userId)).status).toBe(200);
    expect((await remove(org, admin, plain.userId)).status).toBe(200);
  });

  it('the last owner cannot be removed: 409', async () => {
    const org = await api.newOrg();
    await joined(org, 'admin');
    const { status, body } = await remove(org, org.owner, org.owner.userId);
    expect([status, body.code]).toEqual([409, 'LAST_OWNER']);
  });

  it('when the only two owners leave at the same time, one of them stays', async () => {
    for (let round = 0; round < 8; round++) {
      const org = await api.newOrg();
      const second = await joined(org, 'owner');
      const answers = await Promise.all([remove(org, org.owner, org.owner.userId), remove(org, second, second.userId)]);
      expect(answers.map((a) => a.status).sort()).toEqual([200, 409]);
      const stayed = answers[0].status === 409 ? org.owner : second;
      expect((await membersOf(org, stayed)).members).toMatchObject([{ userId: stayed.userId, role: 'owner' }]);
    }
  });

  it('when the only two owners remove each other at the same time, one of them stays', async () => {
    for (let round = 0; round < 8; round++) {
      const org = await api.newOrg();
      const second = await joined(org, 'owner');
      const answers = await Promise.all([remove(org, org.owner, second.userId), remove(org, second, org.owner.userId)]);
      const stayed = answers[0].status === 200 ? org.owner : second;
      // The slower request is refused: it would remove the last owner, or its sender is no longer a member.
      expect(answers.map((a) => a.status).sort()).toEqual([200, expect.any(Number)]);
      expect([404, 409]).toContain(Math.max(...answers.map((a) => a.status)));
      expect((await membersOf(org, stayed)).members).toMatchObject([{ userId: stayed.userId, role: 'owner' }]);
    }
  });
});

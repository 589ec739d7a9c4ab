/**
 * Account changes by mail with a real mail server: a new password, another address, invitations.
 * An attacker cannot learn who has an account, read a token from a record or log, or get back in.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import PostalMime from 'postal-mime';
import type { MongoClient, Db } from 'mongodb';
import pino from 'pino';
import { modelsIn, openClient, proveAddresses } from '../kit/database.ts';
import { apiAt, system, until, type Api, type Reply, type TestOrg, type TestUser } from '../kit/harness.ts';
import { startGreenMail, type GreenMail } from '../kit/greenmail.ts';
import { startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { letterOf } from '../../activities/events/accountletter.ts';
import { accountRoutes } from '../../api/access/routes/accounts.ts';
import type { Context } from '../../api/context.ts';
import { changeAndTell } from '../../api/events/accountmail.ts';
import { hashToken } from '../../models/access/key.ts';
import { addProof, findUser, findUserByProof, joinIdentity } from '../../models/access/user.ts';
import { newId } from '../../models/base/ids.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { proofMs, type ProofKind } from '../../models/rules/access/account.ts';
import type { AccountLetter } from '../../models/rules/access/accountmail.ts';
import { maxMembers, type Role } from '../../models/rules/access/roles.ts';

const from = 'support@bank.example';
modelsIn('accounts');
let greenMail: GreenMail;
let running: Running[];
let api: Api;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  greenMail = await startGreenMail();
  const env = systemEnv('accounts', {
    FLEETS: 'deliveries,slowdeliveries',
    SMTP_URL: `smtp://127.0.0.1:${greenMail.smtpPort}`,
    MAIL_FROM: from,
    LIMITS: 'outside_mails_per_day=8',
  });
  running = await Promise.all([startProcess('api/server.ts', env), startProcess('workers/main.ts', env)]);
  api = apiAt(running[0]!.url);
  client = await openClient(env['MONGODB_URI']!);
  db = client.db();
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await client.close();
  greenMail.close();
});

const password = 'another long password';
const post = (path: string, body: unknown, token?: string): Promise<Reply> =>
  api.request('POST', path, { token, body });
const forgot = (email: string) => post('/auth/password/forgot', { email });
const reset = (token: string, chosen = password) => post('/auth/password/reset', { token, password: chosen });
const login = (email: string, given: string) => post('/auth/login', { email, password: given });
const me = (token: string) => api.request('GET', '/me', { token });

type Mail = { subject: string; text: string; from: string | undefined; raw: string };

/** All mails of a mailbox, oldest first, once there are `count` of them. */
async function mailsTo(address: string, count: number): Promise<Mail[]> {
  const raws = await until(async () => {
    const found = await greenMail.mailsOf(address);
    return found.length >= count && found;
  }, `${count} mails to ${address}`);
  return Promise.all(
    raws.map(async (raw) => {
      const mail = await PostalMime.parse(raw);
      return { subject: mail.subject ?? '', text: mail.text ?? '', from: mail.from?.address, raw };
    }),
  );
}

const linkPattern = /http:\/\/127\.0\.0\.1:3000\/account#\w+=([\w-]{43})$/m;
const tokenIn = ({ text }: Pick<Mail, 'text'>): string => {
  const found = linkPattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`there is no link in ${text}`);
  return found;
};

/**
 * The token of the newest link in the mailbox, once it has `count` mails; mails without a link may come before or
 * after.
 */
async function linkTo(address: string, count = 1): Promise<string> {
  const mails = await mailsTo(address, count);
  return tokenIn(mails.findLast(({ text }) => linkPattern.test(text)) ?? mails.at(-1)!);
}

/** The states of `count` deliveries, once each is delivered, suppressed or failed. */
async function settled(email: string, type: string, count = 1): Promise<string[]> {
  return until(async () => {
    const found = await db.collection('deliveries').find({ destination: email, event_type: type }).toArray();
    const over = found.filter(({ status }) => ['delivered', 'suppressed', 'failed'].includes(status));
    return over.length === count && over.map(({ status }) => status as string);
  }, `${count} settled ${type} to ${email}`);
}

const withoutIds = ({ status, body, headers }: Reply) => [
  status,
  { ...body, request_id: undefined },
  [...headers.keys()].toSorted(),
];

describe('a forgotten password', () => {
  it('a mailed link replaces a forgotten password once, ends all logins and notifies the account’s owner', async () => {
    const { email, password: old, token } = await api.newUser();
    expect((await forgot(email)).status).toBe(202);
    expect((await forgot(` ${email.toUpperCase()}`)).body.data).toEqual({ accepted: true });
    const mails = await mailsTo(email, 2);
    expect(mails.map(({ subject, from: sender }) => [subject, sender])).toEqual([
      ['Set a new password', from],
      ['Set a new password', from],
    ]);
    const [first, second] = mails.map(tokenIn);
    expect((await reset(first!)).body.data).toEqual({ reset: true });

    expect((await me(token)).status).toBe(401);
    expect((await login(email, old)).status).toBe(401);
    const again = await login(email, password);
    expect(again.status).toBe(200);
    expect((await me(again.body.data.token)).body.data).toMatchObject({ email, email_verified: true });
    for (const used of [first!, second!]) {
      const refused = await reset(used, 'yet another password');
      expect([refused.status, refused.body.code]).toEqual([409, 'LINK_OVER']);
    }
    expect((await mailsTo(email, 3)).at(-1)!.subject).toBe('Your password was changed');
  });

  it('a request to reset a password gets the same answer for known and unknown addresses, and unknown ones get no mail', async () => {
    const { email } = await api.newUser();
    const nobody = `${randomUUID()}@example.com`;
    const [known, unknown] = [await forgot(email), await forgot(nobody)];
    expect(withoutIds(unknown)).toEqual(withoutIds(known));
    expect(await settled(nobody, 'account.password_reset')).toEqual(['suppressed']);
    expect(await settled(email, 'account.password_reset')).toEqual(['delivered']);
    expect(await greenMail.mailsOf(nobody)).toEqual([]);
  });

  it('the sixth request in an hour to reset the password for a mailbox gets 429, with or without an account', async () => {
    for (const email of [(await api.newUser()).email, `${randomUUID()}@example.com`]) {
      const answers = [];
      for (let i = 0; i < 6; i++) answers.push(await forgot(email));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 429]);
      expect(Number(answers[5]!.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('of several concurrent uses of a reset link, only one replaces the forgotten password', async () => {
    const { email } = await api.newUser();
    await forgot(email);
    const token = await linkTo(email);
    const tries = Array.from({ length: 6 }, (_, i) => `the password of number ${i}`);
    const answers = await Promise.all(tries.map((chosen) => reset(token, chosen)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    const won = tries[answers.findIndex(({ status }) => status === 200)]!;
    expect((await login(email, won)).status).toBe(200);
  });

  it('a forgotten password cannot be replaced through an invented link, another kind of link or a link older than half an hour', async () => {
    const user = await api.newUser();
    const { email } = user;
    await forgot(email);
    const token = await linkTo(email);
    const { proofs } = (await db.collection('users').findOne({ email }))!;
    expect(proofs).toMatchObject([{ kind: 'password_reset', hash: createHash('sha256').update(token).digest('hex') }]);
    const sent = (await db.collection('deliveries').findOne({ destination: email }))!;
    expect(proofs[0].expires_at.getTime() - sent['created_at'].getTime()).toBe(30 * 60_000);
    await db.collection('users').updateOne({ email }, { $set: { 'proofs.0.expires_at': new Date() } });
    for (const tried of [token, 'x'.repeat(43), `${token}x`]) expect((await reset(tried)).body.code).toBe('LINK_OVER');
    expect((await reset(token, 'short')).status).toBe(400);

    await post('/auth/email', { email, password: user.password }, user.token);
    expect((await reset(await linkTo(email, 2))).body.code).toBe('LINK_OVER');
  });

  it('resetting a password unlinks the account’s sign-ins at identity providers, unless the account’s address was proven before', async () => {
    const { email, token } = await api.newUser();
    const identity = { provider: 'elsewhere', subject: randomUUID() };
    await db.collection('users').updateOne({ email }, { $set: { identities: [identity] } });
    await forgot(email);
    expect((await reset(await linkTo(email))).status).toBe(200);
    expect(await db.collection('users').findOne({ email })).toMatchObject({ identities: [], email_verified: true });
    expect((await me(token)).status).toBe(401);

    // When an account whose address is already verified gets a new password, it keeps its sign-in identities.
    await db.collection('users').updateOne({ email }, { $set: { identities: [identity] } });
    await forgot(email);
    expect((await reset(await linkTo(email, 3))).status).toBe(200);
    expect(await db.collection('users').findOne({ email })).toMatchObject({ identities: [identity] });
  });

  it('a request to reset a password gets 409 while no mail server is configured', async () => {
    const refused = await system().request('POST', '/auth/password/forgot', { body: { email: 'a@b.example' } });
    expect([refused.status, refused.body.code]).toEqual([409, 'NO_MAIL_SERVER']);
  });
});

describe('a process that dies while it changes an account', () => {
  /**
   * Calls a route's handler in this process, which starts no workflows. `dies`: true when the process dies after the
   * change and before the notice is stored.
   */
  async function call(name: string, input: object, { dies }: { dies: boolean }): Promise<unknown> {
    const ctx = {
      config: {},
      clock: () => new Date(),
      log: pino({ level: 'silent' }),
      hooks: {
        changeAndTell: (own: Context, change: Parameters<typeof changeAndTell>[1]) =>
          changeAndTell(own, async (session) => {
            const letter = await change(session);
            if (dies) throw new Error('the process has died');
            return letter;
          }),
      },
    } as unknown as Context;
    return accountRoutes.find((route) => route.name === name)!.handle(input as never, ctx);
  }
  /** Stores a link in the account, as the worker does that mails it, and returns its token. */
  async function withLink({ userId, email }: TestUser, kind: ProofKind, proven: string): Promise<string> {
    const token = randomUUID();
    const now = new Date();
    const expires_at = new Date(now.getTime() + proofMs);
    await addProof(userId, email, { kind, hash: hashToken(token), email: proven, expires_at }, now);
    return token;
  }

  it('a process that dies while it resets a password stores the password and the notice about it together or not at all', async () => {
    const user = await api.newUser();
    const input = { body: { token: await withLink(user, 'password_reset', user.email), password } };
    await expect(call('resetPassword', input, { dies: true })).rejects.toThrow('the process has died');
    expect((await login(user.email, user.password)).status).toBe(200);
    expect(await call('resetPassword', input, { dies: false })).toEqual({ reset: true });
    expect((await login(user.email, password)).status).toBe(200);
    expect((await mailsTo(user.email, 1)).map(({ subject }) => subject)).toEqual(['Your password was changed']);
  });

  it('a process that dies while it changes an e-mail address stores the address and the notice together or not at all', async () => {
    const user = await api.newUser();
    const fresh = `${randomUUID()}@example.com`;
    const token = await withLink(user, 'email_change', fresh);
    const input = { body: { token }, principal: { userId: user.userId } };
    await expect(call('confirmEmail', input, { dies: true })).rejects.toThrow('the process has died');
    expect((await login(user.email, user.password)).status).toBe(200);
    expect(await call('confirmEmail', input, { dies: false })).toMatchObject({ email: fresh, email_verified: true });
    expect((await login(fresh, user.password)).status).toBe(200);
    const [notice, ...more] = await mailsTo(user.email, 1);
    expect([notice!.subject, more]).toEqual(['The e-mail address of your account was changed', []]);
  });

  it('an account that proves its current address again gets no notice of a changed address', async () => {
    const user = await api.newUser();
    const input = {
      body: { token: await withLink(user, 'email_change', user.email) },
      principal: { userId: user.userId },
    };
    expect(await call('confirmEmail', input, { dies: false })).toMatchObject({ email_verified: true });
    expect(await db.collection('deliveries').countDocuments({ destination: user.email })).toBe(0);
  });
});

describe('a mail that is sent a second time', () => {
  const secrets = createSecretBox([randomBytes(32)]);
  /** A function that sends the mail of a request of this time as the worker does, up to the mail server. */
  function mailOf(letter: AccountLetter, created_at: Date): () => Promise<{ token: string; isGood: boolean }> {
    const delivery = { _id: newId('delivery'), org_id: '', created_at };
    return async () => {
      const deps = { secrets, publicUrl: 'http://127.0.0.1:3000', now: new Date() };
      const { words, prepare } = (await letterOf(delivery, letter, deps))!;
      const by = { from: { name: '', address: 'support@example.com' }, via: 'deployment', shown: false } as const;
      return { token: tokenIn(words(by)), isGood: await prepare!() };
    };
  }

  const ways: [string, ProofKind, (user: TestUser, token: string) => Promise<unknown>][] = [
    ['setting a new password', 'password_reset', (_, token) => reset(token)],
    ['proving an address', 'email_change', ({ token: jwt }, token) => post('/auth/email/confirm', { token }, jwt)],
    ['logging out everywhere', 'password_reset', ({ token }) => post('/auth/logout-everywhere', undefined, token)],
    [
      'taking the account over through an identity provider',
      'password_reset',
      async ({ userId }) =>
        joinIdentity((await findUser(userId))!, { provider: 'elsewhere', subject: randomUUID() }, new Date()),
    ],
  ];
  it.each(ways)(
    'a mailed link that was ended by %s stays invalid when its mail is sent again',
    async (_, kind, end) => {
      const user = await api.newUser();
      const letter: AccountLetter =
        kind === 'email_change'
          ? { kind, user_id: user.userId, email: `${randomUUID()}@example.com` }
          : { kind, email: user.email };
      const send = mailOf(letter, new Date());
      const { token, isGood } = await send();
      expect(isGood).toBe(true);
      await end(user, token);
      expect(await send()).toEqual({ token, isGood: false });
      expect(await findUserByProof(kind, hashToken(token), new Date())).toBeNull();
      const later = await mailOf(letter, new Date(Date.now() + 1))();
      expect(later.isGood).toBe(true);
      expect(await findUserByProof(kind, hashToken(later.token), new Date())).toMatchObject({ _id: user.userId });
    },
  );
});

describe('POST /auth/logout-everywhere', () => {
  it('logging out everywhere ends every login and invalidates every unused mailed link at once', async () => {
    const { email, password: mine, token } = await api.newUser();
    const other = (await login(email, mine)).body.data.token;
    await forgot(email);
    const link = await linkTo(email);
    expect((await post('/auth/logout-everywhere', undefined, token)).body.data).toEqual({ signed_out: true });
    for (const ended of [token, other]) expect((await me(ended)).status).toBe(401);
    expect((await reset(link)).body.code).toBe('LINK_OVER');
    expect((await login(email, mine)).status).toBe(200);
  });
});

describe('changing the e-mail address', () => {
  const change = (user: TestUser, email: string, given = user.password) =>
    post('/auth/email', { email, password: given }, user.token);
  const confirm = (user: TestUser, token: string) => post('/auth/email/confirm', { token }, user.token);

  it('a new e-mail address takes effect when the link mailed to that address is used, and the old address is notified', async () => {
    const user = await api.newUser();
    const fresh = `${randomUUID()}@example.com`;
    await forgot(user.email);
    const old = await linkTo(user.email);
    expect((await change(user, fresh)).body.data).toEqual({ accepted: true });
    const link = await linkTo(fresh);
    const stranger = await api.newUser();
    expect((await confirm(stranger, link)).body.code).toBe('LINK_OVER');
    const done = await confirm(user, link);
    expect([done.status, done.body.data]).toMatchObject([200, { email: fresh, email_verified: true }]);
    expect((await confirm(user, link)).body.code).toBe('LINK_OVER');
    expect((await reset(old)).body.code).toBe('LINK_OVER');
    expect((await login(fresh, user.password)).status).toBe(200);
    expect((await login(user.email, user.password)).status).toBe(401);
    expect((await mailsTo(user.email, 2)).at(-1)!.subject).toBe('The e-mail address of your account was changed');
  });

  it('a change of the e-mail address with a wrong password gets 401, and nothing is mailed', async () => {
    const user = await api.newUser();
    const fresh = `${randomUUID()}@example.com`;
    const refused = await change(user, fresh, 'not the password');
    expect([refused.status, refused.body.code]).toEqual([401, 'BAD_LOGIN']);
    expect(await db.collection('deliveries').countDocuments({ destination: fresh })).toBe(0);
  });

  it('the answer to a request to change the e-mail address does not reveal that the new address is taken', async () => {
    const [user, other] = [await api.newUser(), await api.newUser()];
    const free = `${randomUUID()}@example.com`;
    expect(withoutIds(await change(user, other.email))).toEqual(withoutIds(await change(user, free)));
    expect(await settled(other.email, 'account.email_change')).toEqual(['suppressed']);
    expect(await settled(free, 'account.email_change')).toEqual(['delivered']);
  });

  it('changing the e-mail address fails with 409 when the address was taken meanwhile', async () => {
    const user = await api.newUser();
    const fresh = `${randomUUID()}@example.com`;
    await change(user, fresh);
    const link = await linkTo(fresh);
    await post('/auth/register', { email: fresh, password, name: 'Faster' });
    const refused = await confirm(user, link);
    expect([refused.status, refused.body.code]).toEqual([409, 'EMAIL_TAKEN']);
    expect((await me(user.token)).body.data.email).toBe(user.email);
  });
});

describe('invitations', () => {
  const invite = (org: TestOrg, email: string, role: Role = 'member', by = org.owner) =>
    post(`/orgs/${org.orgId}/invitations`, { email, role }, by.token);
  const accept = (token: string, user: TestUser) => post('/auth/invitations/accept', { token }, user.token);
  const register = (token: string) => post('/auth/invitations/register', { token, name: 'Newcomer', password });
  const see = (token: string) => post('/auth/invitations/see', { token });
  const invitationsOf = async (org: TestOrg) =>
    (await api.request('GET', `/orgs/${org.orgId}/invitations`, { token: org.owner.token })).body.data.invitations;
  const membersOf = async (org: TestOrg): Promise<{ email: string; role: Role; email_verified: boolean }[]> =>
    (await api.request('GET', `/orgs/${org.orgId}/members`, { token: org.owner.token })).body.data.members;

  it('a person without an account can join through an invitation link, which works once and proves the person’s address', async () => {
    const org = await api.newOrg();
    const email = `${randomUUID()}@example.com`;
    const invited = await invite(org, ` ${email.toUpperCase()}`, 'admin');
    expect([invited.status, invited.body.data.invitation]).toEqual([
      201,
      {
        invitation_id: expect.stringMatching(/^inv_/),
        org_id: org.orgId,
        email,
        role: 'admin',
        status: 'pending',
        invited_by: org.owner.userId,
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    const token = await linkTo(email);
    expect((await see(token)).body.data).toMatchObject({ org_name: 'Test Organization', email, role: 'admin' });
    const joined = await register(token);
    expect([joined.status, joined.body.data.organizations]).toEqual([
      201,
      [{ org_id: org.orgId, name: 'Test Organization', role: 'admin' }],
    ]);
    expect((await membersOf(org)).at(-1)).toMatchObject({ email, role: 'admin', email_verified: true });
    for (const again of [await register(token), await see(token)]) expect(again.body.code).toBe('LINK_OVER');
    expect(await invitationsOf(org)).toMatchObject([{ email, status: 'accepted', joined_at: expect.any(String) }]);
  });

  it('a person with an account can join through an invitation only when the account has the invited address', async () => {
    const org = await api.newOrg();
    const [user, thief] = [await api.newUser(), await api.newUser()];
    await invite(org, user.email);
    const token = await linkTo(user.email);
    expect((await accept(token, thief)).body.code).toBe('LINK_OVER');
    expect((await register(token)).body.code).toBe('EMAIL_TAKEN');
    const answers = await Promise.all([accept(token, user), accept(token, user)]);
    expect(answers.map(({ status }) => status)).toContain(200);
    expect((await membersOf(org)).map(({ email }) => email)).toEqual([org.owner.email, user.email]);
    expect((await me(user.token)).body.data).toMatchObject({
      email_verified: true,
      organizations: [{ org_id: org.orgId, role: 'member' }],
    });
    expect((await invite(org, user.email)).body.code).toBe('ALREADY_MEMBER');
  });

  it('adding a member by an unproven address sends an invitation, through which only the mailbox’s owner can join', async () => {
    const org = await api.newOrg();
    const squatter = await api.newUser();
    const add = () => post(`/orgs/${org.orgId}/members`, { email: squatter.email, role: 'admin' }, org.owner.token);
    const invited = await add();
    expect([invited.status, Object.keys(invited.body.data)]).toEqual([202, ['invitation']]);
    expect(await membersOf(org)).toHaveLength(1);
    // The owner of the mailbox takes the account over from whoever created it, and joins.
    const link = await linkTo(squatter.email);
    await forgot(squatter.email);
    expect((await reset(await linkTo(squatter.email, 2))).status).toBe(200);
    const owner = (await login(squatter.email, password)).body.data;
    expect((await accept(link, { ...squatter, token: owner.token })).status).toBe(200);
    expect((await accept(link, squatter)).status).toBe(401);
    expect((await membersOf(org)).at(-1)).toMatchObject({ email: squatter.email, role: 'admin', email_verified: true });

    const other = await api.newOrg();
    const added = await post(
      `/orgs/${other.orgId}/members`,
      { email: squatter.email, role: 'admin' },
      other.owner.token,
    );
    expect([added.status, Object.keys(added.body.data)]).toEqual([201, ['member']]);
  });

  it('an invitation cannot be accepted once it is revoked, replaced or expired', async () => {
    const org = await api.newOrg();
    const email = `${randomUUID()}@example.com`;
    const first = (await invite(org, email)).body.data.invitation;
    const old = await linkTo(email);
    await invite(org, email, 'admin');
    const second = await linkTo(email, 2);
    expect((await register(old)).body.code).toBe('LINK_OVER');
    expect(await invitationsOf(org)).toMatchObject([
      { status: 'pending' },
      { status: 'revoked', invitation_id: first.invitation_id },
    ]);
    await db.collection('invitations').updateOne({ status: 'pending', email }, { $set: { expires_at: new Date() } });
    expect((await register(second)).body.code).toBe('LINK_OVER');
    expect((await invitationsOf(org))[0].status).toBe('expired');
    const third = (await invite(org, email)).body.data.invitation;
    const path = `/orgs/${org.orgId}/invitations/${third.invitation_id}`;
    const link = await linkTo(email, 3);
    expect((await api.request('DELETE', path, { token: org.owner.token })).body.data.invitation.status).toBe('revoked');
    expect((await api.request('DELETE', path, { token: org.owner.token })).status).toBe(404);
    expect((await register(link)).body.code).toBe('LINK_OVER');
    expect(await db.collection('users').countDocuments({ email })).toBe(0);
  });

  it('only admins can invite people, with at most their own role, and a removed member cannot reuse an old invitation', async () => {
    const org = await api.newOrg();
    const [admin, user] = [await api.newUser(), await api.newUser()];
    await invite(org, admin.email, 'admin');
    expect((await accept(await linkTo(admin.email), admin)).status).toBe(200);
    expect((await invite(org, user.email, 'owner', admin)).body.code).toBe('MISSING_ROLE');
    expect((await invite(org, user.email, 'member', admin)).status).toBe(201);
    const link = await linkTo(user.email);
    const role = (to: Role) =>
      api.request('PATCH', `/orgs/${org.orgId}/members/${admin.userId}`, {
        token: org.owner.token,
        body: { role: to },
      });
    await role('member');
    expect((await invite(org, user.email, 'member', admin)).body.code).toBe('MISSING_ROLE');
    expect((await accept(link, user)).body.code).toBe('LINK_OVER');

    await invite(org, user.email);
    const good = await linkTo(user.email, 2);
    expect((await accept(good, user)).status).toBe(200);
    const path = `/orgs/${org.orgId}/members/${user.userId}`;
    // Restores the state of a process that died right after it stored the membership.
    await db
      .collection('invitations')
      .updateOne({ email: user.email, status: 'accepted', joined_at: { $exists: true } }, { $unset: { joined_at: 1 } });
    await api.request('DELETE', path, { token: org.owner.token });
    expect((await accept(good, user)).body.code).toBe('LINK_OVER');
    expect((await membersOf(org)).map(({ email }) => email)).not.toContain(user.email);
  });

  it('the same person can accept an invitation again when the process died before storing the membership', async () => {
    const org = await api.newOrg();
    const [user, other] = [await api.newUser(), await api.newUser()];
    await invite(org, user.email);
    const token = await linkTo(user.email);
    await db
      .collection('invitations')
      .updateOne({ email: user.email }, { $set: { status: 'accepted', accepted_by: user.userId } });
    expect((await accept(token, other)).body.code).toBe('LINK_OVER');
    expect((await accept(token, user)).status).toBe(200);
    expect((await accept(token, user)).body.code).toBe('LINK_OVER');
  });

  it('an accepted invitation whose membership was not stored cannot be accepted again after its expiry', async () => {
    const org = await api.newOrg();
    const user = await api.newUser();
    await invite(org, user.email);
    const token = await linkTo(user.email);
    const begun = { status: 'accepted', accepted_by: user.userId, expires_at: new Date() };
    await db.collection('invitations').updateOne({ email: user.email }, { $set: begun });
    expect((await accept(token, user)).body.code).toBe('LINK_OVER');
    expect(await membersOf(org)).toHaveLength(1);
  });

  it('an invitation whose inviter has lost the role is revoked on acceptance, and stays revoked when the inviter regains the role', async () => {
    const org = await api.newOrg();
    const [admin, user] = [await api.newUser(), await api.newUser()];
    await proveAddresses(db, admin);
    await api.join(org, 'admin', admin);
    await invite(org, user.email, 'member', admin);
    const token = await linkTo(user.email);
    for (const role of ['member', 'admin']) {
      const path = `/orgs/${org.orgId}/members/${admin.userId}`;
      const changed = await api.request('PATCH', path, { token: org.owner.token, body: { role } });
      expect(changed.status).toBe(200);
      expect((await accept(token, user)).body.code).toBe('LINK_OVER');
      expect(await invitationsOf(org)).toMatchObject([{ email: user.email, status: 'revoked' }]);
    }
    expect((await membersOf(org)).map(({ email }) => email)).toEqual([org.owner.email, admin.email]);
  });

  it('an invitation that is refused because the organization is full can be accepted once there is room', async () => {
    const org = await api.newOrg();
    const [user, other] = [await api.newUser(), await api.newUser()];
    await invite(org, user.email);
    await invite(org, other.email);
    const [link, withdrawn] = [await linkTo(user.email), await linkTo(other.email)];
    const organization = { _id: org.orgId as never };
    const { members } = (await db.collection('organizations').findOne(organization))!;
    const many = Array.from({ length: maxMembers - 1 }, (_, i) => ({
      user_id: `usr_full${i}`,
      role: 'member',
      joined_at: new Date(),
    }));
    await db.collection('organizations').updateOne(organization, { $set: { members: [...members, ...many] } });
    expect((await accept(link, user)).body.code).toBe('CONFLICT');
    expect((await accept(withdrawn, other)).body.code).toBe('CONFLICT');
    const [open] = await invitationsOf(org);
    expect(open).toMatchObject({ email: other.email, status: 'pending' });
    const path = `/orgs/${org.orgId}/invitations/${open.invitation_id}`;
    expect((await api.request('DELETE', path, { token: org.owner.token })).body.data.invitation.status).toBe('revoked');
    await db.collection('organizations').updateOne(organization, { $set: { members } });
    expect((await accept(withdrawn, other)).body.code).toBe('LINK_OVER');
    expect((await accept(link, user)).status).toBe(200);
    expect((await membersOf(org)).map(({ email }) => email)).toEqual([org.owner.email, user.email]);
  });

  it('an address that objected to mails gets no invitation mail, and the inviter gets the invitation link instead', async () => {
    const [org, other] = [await api.newOrg(), await api.newOrg()];
    const email = `${randomUUID()}@example.com`;
    await invite(org, email);
    const [mail] = await mailsTo(email, 1);
    expect(mail!.text).toContain('“Test Organization” sends you this through 127.0.0.1:3000, because');
    const path = /^List-Unsubscribe: <http:\/\/127\.0\.0\.1:3000(\/v1\/mail\/objections\/[\w.-]+)>$/m.exec(
      mail!.raw
        .replaceAll(/\r\n([ \t])/g, '$1')
        .replaceAll('\r\n', '\n')
        .replace(/^(List-Unsubscribe:) +/m, '$1 '),
    )![1]!;
    expect(mail!.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m);
    const object = (at: string, raw: string) =>
      api.request('POST', at, { raw, headers: { 'content-type': 'application/x-www-form-urlencoded' } });

    // Mail scanners follow links, so following the link must not change anything.
    const seen = await api.request('GET', path);
    expect([seen.status, seen.headers.get('location')]).toEqual([302, `/account#mail_stop=${path.split('/').at(-1)}`]);
    expect((await object(path, 'scope=everything')).status).toBe(400);
    expect((await object(`${path}x`, 'scope=all')).status).toBe(404);
    expect((await object(path.replace(org.orgId, other.orgId), 'scope=organization')).status).toBe(404);
    expect((await invite(org, email)).body.data.link).toBeUndefined();
    await mailsTo(email, 2);

    expect((await object(path, 'List-Unsubscribe=One-Click')).body.data).toEqual({ stopped: 'organization' });
    expect((await invite(org, email)).body.data.link).toMatch(/#invitation=/);
    expect((await invite(other, email)).body.data.link).toBeUndefined();
    await mailsTo(email, 3);
    expect((await object(path, 'scope=all')).body.data).toEqual({ stopped: 'all' });
    expect((await invite(other, email)).body.data.link).toMatch(/#invitation=/);
    expect(await settled(email, 'account.invitation', 3)).toEqual(['delivered', 'delivered', 'delivered']);
  });

  it('an account that exceeds its daily limit of invitations over all its organizations gets 429, earlier while its address is unproven', async () => {
    const owner = await api.newUser();
    const orgs = [await api.newOrg(owner), await api.newOrg(owner)];
    const inviteNext = async () => {
      orgs.reverse();
      const { status, headers } = await invite(orgs[0]!, `${randomUUID()}@example.com`);
      return status === 429 ? Number(headers.get('retry-after')) > 0 : status;
    };
    const first = [];
    for (let i = 0; i < 6; i++) first.push(await inviteNext());
    expect(first).toEqual([201, 201, 201, 201, 201, true]);
    await proveAddresses(db, owner);
    const then = [];
    for (let i = 0; i < 4; i++) then.push(await inviteNext());
    expect(then).toEqual([201, 201, 201, true]);
  });

  it('an organization that exceeds its daily limit of invitations over all its members gets 429', async () => {
    const org = await api.newOrg();
    const [admin, email] = [await api.newUser(), () => `${randomUUID()}@example.com`];
    await proveAddresses(db, org.owner, admin);
    await api.join(org, 'admin', admin);
    const answers = [];
    for (let i = 0; i < 8; i++) answers.push((await invite(org, email(), 'member', i % 2 ? admin : org.owner)).status);
    // The admin who was added counts, too.
    expect(answers).toEqual([...Array.from({ length: 7 }, () => 201), 429]);
  });

  it('an invitation mail omits a web address that the organization’s name contains', async () => {
    const { owner } = await api.newOrg();
    const made = await post('/orgs', { name: 'Win at https://evil.example/x or evil.example' }, owner.token);
    const org = { orgId: made.body.data.org_id, owner };
    const email = `${randomUUID()}@example.com`;
    await invite(org, email);
    const [mail] = await mailsTo(email, 1);
    expect(`${mail!.subject}\n${mail!.text}`).not.toMatch(/evil\.example|https:\/\/evil/);
  });
});

it('the token of a mailed link is never in a record, in the deliveries that members see, or in a log', async () => {
  const org = await api.newOrg();
  const email = `${randomUUID()}@example.com`;
  await post(`/orgs/${org.orgId}/invitations`, { email, role: 'member' }, org.owner.token);
  const user = await api.newUser();
  await forgot(user.email);
  const tokens = [await linkTo(email), await linkTo(user.email)];
  await settled(email, 'account.invitation');
  await settled(user.email, 'account.password_reset');
  await reset(tokens[1]!);
  const outbox = await api.request('GET', `/support/outbox/orgs/${org.orgId}/deliveries`, { token: org.owner.token });
  expect(outbox.body.deliveries).toMatchObject([{ kind: 'notification', destination: email, status: 'delivered' }]);
  expect(outbox.body.deliveries[0].request.body).toContain('/account#invitation=***');
  const everything = [JSON.stringify(outbox.body), ...running.map(({ output }) => output())];
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray())
    everything.push(JSON.stringify(await db.collection(name).find().toArray()));
  for (const token of tokens) expect(everything.filter((text) => text.includes(token))).toEqual([]);
});

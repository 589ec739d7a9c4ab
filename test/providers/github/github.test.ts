/**
 * The GitHub client against an emulator of GitHub: how an issue is found again, and how refusals are classified. And
 * the handler of GitHub's events alone, with a stand-in for the client.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { modelsIn } from '../../kit/database.ts';
import { box, hmac } from '../../kit/inbound.ts';
import { githubCall, githubRepository as repository, startGithubService, type Service } from '../../kit/services.ts';
import {
  createGithub,
  GithubError,
  type Github,
  type GithubIssue,
  type GithubRepository,
} from '../../../providers/github/client.ts';
import { githubConnector } from '../../../providers/github/connect.ts';
import { handleGithub, type GithubDeps, type GithubPort } from '../../../providers/github/receive.ts';
import { githubIssueExternal } from '../../../providers/github/rules.ts';
import { verifyGithub } from '../../../providers/github/verify.ts';
import { createHttp, type Http } from '../../../clients/http/http.ts';
import { createOrganization, newOrganization } from '../../../models/access/organization.ts';
import { collectionOf } from '../../../models/base/define.ts';
import { newId } from '../../../models/base/ids.ts';
import type { Inbound } from '../../../models/events/inbound.ts';
import { createLink, findLink } from '../../../models/events/link.ts';
import {
  connectIntegration,
  IntegrationModel,
  listOwn,
  sealCredentials,
} from '../../../models/integrations/integration.ts';
import { changeTask, createTask, findTask } from '../../../models/tasks/task.ts';
import type { ConnectorDeps } from '../../../providers/base/connector.ts';
import type { Carrying } from '../../../providers/base/issue.ts';
import type { StepCall } from '../../../providers/base/step.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { github as githubStep } from '../../../providers/github/step.ts';
import { carryToGithub, taskGithubPort } from '../../../providers/github/task.ts';

modelsIn('githubclient');
let service: Service;
let http: Http;
let github: Github;
beforeAll(async () => {
  service = await startGithubService();
  http = createHttp({ userAgent: 'Test/1.0', egressAllow: [new URL(service.url).host] });
  github = createGithub({ http, url: service.url });
});
afterAll(async () => {
  await http.close();
  await service.close();
});
afterEach(() => service.heal());

const failure = (asked: Promise<unknown>): Promise<GithubError> =>
  asked.then(
    () => {
      throw new Error('It did not fail.');
    },
    (error: unknown) => {
      expect(error).toBeInstanceOf(GithubError);
      return error as GithubError;
    },
  );
const since = new Date(0);
const ask = () => github.repository('ghp_x', repository);

describe('issues', () => {
  it('GitHub issues are created, changed, read, and found among many by the mark in their text', async () => {
    const made = await github.createIssue('ghp_x', repository, { title: 'Call', body: 'Text\n<!-- mark-1 -->' });
    expect(made).toMatchObject({ number: expect.any(Number), title: 'Call', state: 'open' });
    for (let at = 0; at < 100; at += 1)
      await githubCall(service, 'POST', `/repos/${repository}/issues`, { title: `Other ${at}` });
    await github.updateIssue('ghp_x', repository, made.number, { state: 'closed', state_reason: 'completed' });
    expect(await github.issue('ghp_x', repository, made.number)).toMatchObject({ state: 'closed' });
    // The issue is on the second page.
    expect((await github.findByMark('ghp_x', repository, 'mark-1', since))?.number).toBe(made.number);
    expect(await github.findByMark('ghp_x', repository, 'mark-2', since)).toBeUndefined();
    expect(await failure(github.issue('ghp_x', repository, 999_999))).toMatchObject({ status: 404, permanent: true });
  });

  it('when a repository has too many issues to search, the search for a mark fails with a temporary error', async () => {
    const page = Array.from({ length: 100 }, (_, id) => ({ id, number: id, body: 'x' }));
    service.lasting({ fits: ({ path }) => path.includes('/issues?'), body: page });
    expect(await failure(github.findByMark('ghp_x', repository, 'mark', since))).toMatchObject({ permanent: false });
  });
});

describe('a refusal', () => {
  it.each<[string, number, Record<string, string>, string, Partial<GithubError>]>([
    [
      'a refused token is temporary and is marked as unauthorized',
      401,
      {},
      'Bad credentials',
      { unauthorized: true, permanent: false },
    ],
    ['a lack of rights is permanent', 403, {}, 'Resource not accessible', { unauthorized: false, permanent: true }],
    [
      'status 429 is temporary, with the wait from Retry-After',
      429,
      { 'retry-after': '7' },
      'Slow down',
      { permanent: false, retryAfterMs: 7_000 },
    ],
    [
      'status 403 with Retry-After is temporary, with the wait from Retry-After',
      403,
      { 'retry-after': '3' },
      'x',
      { permanent: false, retryAfterMs: 3_000 },
    ],
    [
      'the secondary rate limit is temporary',
      403,
      {},
      'You have exceeded a secondary rate limit',
      { permanent: false },
    ],
    [
      'the rate limit is temporary, until the limit is reset',
      403,
      {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Date.parse('2026-01-01T00:01:00Z') / 1000),
        date: 'Thu, 01 Jan 2026 00:00:00 GMT',
      },
      'API rate limit exceeded',
      { permanent: false, retryAfterMs: 60_000 },
    ],
    ['refused content is permanent', 422, {}, 'Validation Failed', { permanent: true }],
    ['an outage is temporary', 502, {}, 'Server Error', { permanent: false, unauthorized: false }],
    ['a request that took too long is temporary', 408, {}, 'Request Timeout', { permanent: false }],
  ])(
    'an unsuccessful response of GitHub becomes a temporary or a permanent error: %s',
    async (_, status, headers, message, expected) => {
      service.fault({ status, headers, body: { message } });
      const error = await failure(ask());
      expect(error).toMatchObject({ status, ...expected });
      expect(error.message).toBe(`GitHub says: ${message}`);
    },
  );

  it('an error of GitHub that is not JSON is reported by its status alone, and a lost response as an unreachable service', async () => {
    service.fault({ status: 500, body: 'plain' });
    expect(await failure(ask())).toMatchObject({ message: 'GitHub says: status 500', permanent: false });
    service.fault({ lose: true });
    expect((await failure(ask())).message).toMatch(/^GitHub could not be reached\. /);
  });

  it.each([200, 302, 401, 403, 404, 408, 410])(
    'an answer with status %d and without a message of GitHub counts as no answer, because something in between may have sent it',
    async (status) => {
      service.fault({ status, body: '<html>Checking your browser</html>' });
      const noAnswer = { status: undefined, permanent: false, unauthorized: false, deleted: false };
      expect(await failure(ask())).toMatchObject({ ...noAnswer, message: `GitHub says: status ${status}` });
    },
  );
});

it('the title that a task got before a second attempt found its GitHub issue is sent there, and the older title does not come back', async () => {
  const [orgId, taskId] = [newId('org'), newId('task')];
  const sealed = sealCredentials({ org_id: orgId, provider: 'github' }, { token: 'ghp_x' }, box);
  const connected = { account: 'Demo', settings: { repository }, sealed, workspace: '5300' };
  await connectIntegration(orgId, 'github', connected, new Date());
  const deps = { github, secrets: box, clock: () => new Date() } as unknown as Carrying['deps'] & GithubDeps;
  const { signal } = new AbortController();
  const task = { _id: taskId, org_id: orgId, status: 'pending' } as Carrying['task'];
  const toldWith = (title: string) => ({ task_id: taskId, title, priority: 'low' }) as const;
  const attempt = (title: string, again: boolean) => {
    const step = { integration: 'github', first_at: new Date() };
    const call = { task, step, told: toldWith(title), mode: 'live', again } as unknown as StepCall;
    return githubStep.send(call, deps, signal);
  };
  service.fault({ fits: ({ path, body }) => path.endsWith('/issues') && body !== '', lose: true });
  await expect(attempt('Call the bank', false)).rejects.toThrow('could not be reached');
  const number = Number((await attempt('Call the insurer', true)).result?.id);
  const link = async () => (await findLink('github', githubIssueExternal('5300', number)))!;
  expect((await link()).known).toMatchObject({ title: 'Call the bank', status: 'pending' });
  const body = JSON.stringify({ repository: { id: 5300 }, issue: { number } });
  const inbound = { _id: newId('inbound'), org_id: orgId, type: 'issues.labeled', body } as Inbound;
  expect(await handleGithub(taskGithubPort, inbound, deps, signal)).toEqual({
    ignored: 'How the issue stands is known already.',
  });
  const { known } = await link();
  const told = toldWith('Call the insurer');
  expect(await carryToGithub({ link: await link(), known, task, told, deps, signal })).toBe(false);
  expect(await github.issue('ghp_x', repository, number)).toMatchObject({ title: 'Call the insurer', state: 'open' });
});

describe('an event of an issue', () => {
  const following = { stands: async () => ({ outcome: 'The task follows.' }) } as unknown as GithubPort;
  it('an event of a formerly connected repository does not change the issue with the same number in the current repository', async () => {
    const orgId = newId('org');
    const now = new Date();
    const external = githubIssueExternal('4711', 7);
    await createLink({
      org_id: orgId,
      mode: 'live',
      provider: 'github',
      external,
      kind: 'task',
      subject_id: newId('task'),
      created_at: now,
    });
    const read: string[] = [];
    const deps = {
      secrets: box,
      clock: () => now,
      github: {
        issue: async (_token: string, from: string, number: number) => {
          read.push(`${from}#${number}`);
          return { number, title: 'An issue', state: 'open' };
        },
      },
    } as unknown as GithubDeps;
    const body = JSON.stringify({ repository: { id: 4711 }, issue: { number: 7 } });
    const inbound = { _id: newId('inbound'), org_id: orgId, type: 'issues.edited', body } as Inbound;
    const handled = async (repositoryId: string, name: string) => {
      const sealed = sealCredentials({ org_id: orgId, provider: 'github' }, { token: 'ghp_x' }, box);
      const connected = { account: 'Demo', settings: { repository: name }, sealed, workspace: repositoryId };
      await connectIntegration(orgId, 'github', connected, now);
      return handleGithub(following, inbound, deps, new AbortController().signal);
    };
    expect(await handled('4712', 'demo/other')).toEqual({ ignored: expect.stringContaining('not connected') });
    expect(read).toEqual([]);
    expect(await handled('4711', 'demo/linked')).toEqual({ outcome: 'The task follows.' });
    expect(read).toEqual(['demo/linked#7']);
  });

  it('a task that is reopened in GitHub loses an assignee who has left the organization, and keeps a member', async () => {
    const [orgId, owner, now] = [newId('org'), newId('user'), new Date()];
    await createOrganization(newOrganization(orgId, 'Bank', owner, now));
    const deps = { clock: () => now, start: async () => undefined } as unknown as GithubDeps;
    const reopened = async (number: number, assigned_to: string) => {
      const fields = { title: 'Call the bank', priority: 'medium', email_execution_enabled: false } as const;
      const cause = { source: 'member', actor: owner, now } as const;
      const given = { ...fields, assigned_to, org_id: orgId, mode: 'live', created_by: owner } as const;
      const taskId = (await createTask(given, cause)).task._id;
      await changeTask(orgId, taskId, cause, () => ({ status: 'completed' }));
      const external = githubIssueExternal('5400', number);
      const link = { provider: 'github', external, kind: 'task', subject_id: taskId } as const;
      await createLink({ ...link, org_id: orgId, mode: 'live', known: { status: 'completed' }, created_at: now });
      const issue = { number, title: 'Call the bank', state: 'open' } as GithubIssue;
      await taskGithubPort.stands((await findLink('github', external))!, issue, deps);
      return findTask(orgId, taskId);
    };
    const taken = (await reopened(1, newId('user')))!;
    expect([taken.status, taken.assigned_to]).toEqual(['pending', undefined]);
    expect(taken.history.at(-1)).toMatchObject({ source: 'github', changed: ['assigned_to', 'status'] });
    expect(await reopened(2, owner)).toMatchObject({ status: 'pending', assigned_to: owner });
  });

  it('an event whose token GitHub refused keeps failing, and is not ignored, until the repository is connected again', async () => {
    const [orgId, now] = [newId('org'), new Date()];
    await createLink({
      org_id: orgId,
      mode: 'live',
      provider: 'github',
      external: githubIssueExternal('4800', 7),
      kind: 'task',
      subject_id: newId('task'),
      created_at: now,
    });
    const asked: string[] = [];
    const deps = {
      secrets: box,
      clock: () => now,
      log: { warn: () => undefined },
      github: {
        issue: async (token: string) => {
          asked.push(token);
          if (token === 'ghp_old') throw new GithubError('GitHub says: Bad credentials', { unauthorized: true });
          return { number: 7, title: 'An issue', state: 'open' };
        },
      },
    } as unknown as GithubDeps;
    const body = JSON.stringify({ repository: { id: 4800 }, issue: { number: 7 } });
    const inbound = { _id: newId('inbound'), org_id: orgId, type: 'issues.edited', body } as Inbound;
    const handle = () => handleGithub(following, inbound, deps, new AbortController().signal);
    const connect = async (token: string) => {
      const sealed = sealCredentials({ org_id: orgId, provider: 'github' }, { token }, box);
      const connected = { account: 'Demo', settings: { repository }, sealed, workspace: '4800' };
      await connectIntegration(orgId, 'github', connected, now);
    };
    await connect('ghp_old');
    await expect(handle()).rejects.toThrow('Bad credentials');
    await expect(handle()).rejects.toThrow('connected again');
    // The refused token is not sent a second time.
    expect(asked).toEqual(['ghp_old']);
    await connect('ghp_new');
    expect(await handle()).toEqual({ outcome: 'The task follows.' });
    expect(asked).toEqual(['ghp_old', 'ghp_new']);
  });
});

describe('the signature of an event', () => {
  const idOfRepository = 5100;
  const body = Buffer.from(JSON.stringify({ repository: { id: idOfRepository }, issue: { number: 1 } }));
  const verify = (secret: string) =>
    verifyGithub({ headers: { 'x-hub-signature-256': `sha256=${hmac(secret, body)}` }, body, now: new Date() }, box);
  /** Connects an organization to the public repository with a token of somebody who has these rights there. */
  const connect = async (secret: string, permissions?: GithubRepository['permissions']) => {
    const candidate = {
      org_id: newId('org'),
      provider: 'github' as const,
      credentials: { token: 'ghp_x', webhook_secret: secret },
      settings: { repository },
    };
    const found = { id: idOfRepository, full_name: repository, owner: { login: 'demo' }, ...defined({ permissions }) };
    const github = { login: async () => 'somebody', repository: async () => found };
    const deps = { github, secrets: box } as unknown as ConnectorDeps;
    const connected = await githubConnector.connect(candidate, null, deps, new AbortController().signal);
    await connectIntegration(candidate.org_id, 'github', connected, new Date());
    return candidate.org_id;
  };

  it('an event is verified with the secret of the repository’s own people, however many strangers connected the public repository before', async () => {
    const stranger = { admin: false, maintain: false, push: false, triage: false, pull: true };
    const first = await connect('of the first stranger', stranger);
    for (let at = 0; at < 55; at += 1) await connect(`of stranger ${at}`, at % 2 ? stranger : undefined);
    const [admin, helper] = [
      await connect('of an admin', { ...stranger, admin: true }),
      await connect('of a helper', { ...stranger, triage: true }),
    ];
    expect((await verify('of an admin')).id).toBe(admin);
    expect((await verify('of a helper')).id).toBe(helper);
    // A connection without a right is tried, too, and a later one does not displace an earlier one.
    expect((await verify('of the first stranger')).id).toBe(first);
    await expect(verify('of nobody')).rejects.toThrow('This signature is not made with the secret');
  });

  it('the connections whose secrets are tried are found without reading all connections to the repository', async () => {
    const strangers = Array.from({ length: 2_000 }, (_, at) => {
      const org_id = newId('org');
      return {
        _id: `${org_id}:github`,
        org_id,
        provider: 'github' as const,
        status: 'connected' as const,
        settings: {},
        workspace: `520${at % 2}`,
        events_of: `repository:520${at % 2}`,
        events_since: new Date(at),
        sealed_signing: 'x',
        generation: 1,
        updated_at: new Date(at),
      };
    });
    await collectionOf(IntegrationModel).insertMany(strangers);
    const db = IntegrationModel.db.db!;
    await db.command({ profile: 2 });
    const own = await listOwn('github', { workspace: '5200', events_of: 'repository:5200' });
    await db.command({ profile: 0 });
    expect(own).toHaveLength(50);
    const { cursor } = await db.command({ find: 'system.profile' });
    const profiled = cursor.firstBatch as { command?: { find?: string }; docsExamined: number }[];
    const [read, ...others] = profiled.filter(({ command }) => command?.find === 'integrations');
    expect(others).toEqual([]);
    expect(read!.docsExamined).toBeLessThan(500);
  });
});

describe('an issue that GitHub does not show', () => {
  let made = 100;
  /** A task's link to an issue in a connected repository; GitHub answers each request about the issue with the error. */
  async function linked(status: number, message: string) {
    const [orgId, taskId, now] = [newId('org'), newId('task'), new Date()];
    const external = githubIssueExternal('5000', (made += 1));
    await createLink({
      org_id: orgId,
      mode: 'live',
      provider: 'github',
      external,
      kind: 'task',
      subject_id: taskId,
      created_at: now,
    });
    const sealed = sealCredentials({ org_id: orgId, provider: 'github' }, { token: 'ghp_x' }, box);
    const connected = { account: 'Demo', settings: { repository }, sealed, workspace: '5000' };
    await connectIntegration(orgId, 'github', connected, now);
    const refuse = () => Promise.reject(new GithubError(message, { status, permanent: true }));
    const cancelled: string[] = [];
    const deps = {
      secrets: box,
      clock: () => now,
      github: { issue: refuse, updateIssue: refuse },
    } as unknown as GithubDeps & Carrying['deps'];
    const port = {
      removed: async ({ subject_id }: { subject_id: string }) => {
        cancelled.push(subject_id);
        return { outcome: 'The task is cancelled.' };
      },
    } as unknown as GithubPort;
    const { signal } = new AbortController();
    const body = JSON.stringify({ repository: { id: 5000 }, issue: { number: made } });
    const inbound = { _id: newId('inbound'), org_id: orgId, type: 'issues.edited', body } as Inbound;
    const link = async () => (await findLink('github', external))!;
    return {
      handle: () => handleGithub(port, inbound, deps, signal),
      async carry() {
        const task = { _id: taskId, org_id: orgId, status: 'pending' } as Carrying['task'];
        const told = { task_id: taskId, title: 'Call the bank', priority: 'low' } as const;
        return carryToGithub({ link: await link(), known: undefined, task, told, deps, signal });
      },
      link,
      taskId,
      cancelled,
    };
  }

  it.each<[string, number, string]>([
    ['whose repository the token may not read', 404, 'GitHub says: Not Found'],
    ['of a repository in which issues are turned off', 410, 'GitHub says: Issues are disabled for this repo'],
  ])('an issue %s does not count as removed: its task is not cancelled and stays linked', async (_, status, said) => {
    const { handle, carry, link, cancelled } = await linked(status, said);
    await expect(handle()).rejects.toThrow(said);
    await expect(carry()).rejects.toThrow(said);
    expect(cancelled).toEqual([]);
    expect((await link()).removed_at).toBeUndefined();
  });

  it('an issue that GitHub says was deleted counts as removed: its task is cancelled, and no change is sent to it', async () => {
    const [one, other] = [await linked(410, 'This issue was deleted'), await linked(410, 'This issue was deleted')];
    expect(await one.handle()).toEqual({ outcome: 'The task is cancelled.' });
    expect(one.cancelled).toEqual([one.taskId]);
    expect(await other.carry()).toBe(false);
    for (const { link } of [one, other]) expect((await link()).removed_at).toBeInstanceOf(Date);
  });
});

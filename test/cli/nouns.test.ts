/**
 * Commands that are defined by tables. Each is compared with its route, and all run against the system of the test run.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routeGroups } from '../../api/routes.ts';
import { examples } from '../../cli/examples.ts';
import { nouns } from '../../cli/nouns/index.ts';
import { freePort } from '../../engines/ports.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import { runCli } from '../kit/cli.ts';
import { startTestMcp } from '../kit/mcp-server.ts';
import { newSecret, startReceiver } from '../kit/receiver.ts';
import { wordsOf } from '../kit/documented.ts';

const api = system();
const routes = Object.values(routeGroups).flat();
const described = nouns.flatMap(({ name, commands }) =>
  commands.map((each) => [name === '' ? each.name : `${name} ${each.name}`, name, each] as const),
);

let folder: string;
let org: TestOrg;
let key: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'support-nouns-'));
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const cli = (args: readonly string[], env: Record<string, string> = {}, input?: string) =>
  runCli(args, { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), SUPPORT_URL: api.url, ...env }, input);

/** Runs commands as the logged-in owner of an organization or with its key. The commands must succeed. */
function of(own: TestOrg, token?: string) {
  const config = join(folder, own.orgId);
  const env = { XDG_CONFIG_HOME: config, SUPPORT_ORG: own.orgId, ...(token ? { SUPPORT_API_KEY: token } : {}) };
  const login = cli(['login', '--email', own.owner.email, '--password-stdin'], env, `${own.owner.password}\n`);
  const say = async (args: string[], input?: string): Promise<string> => {
    await login;
    const ended = await cli(args, env, input);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return ended.stdout;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- what a reply holds is what its test finds out
  const json = async (args: string[], input?: string): Promise<any> =>
    JSON.parse(await say([...args, '--json'], input));
  return { say, json, fails: async (args: string[]) => (await login, cli(args, env)) };
}

describe('a command defined by a table', () => {
  it.each(described)(
    'the operation of the command %s has a route, and the command needs a login exactly if the route does',
    (_, _noun, { does, login }) => {
      const route = routes.find(({ name }) => name === does.name);
      expect(route).toMatchObject({ method: does.head.split(' ')[0], path: does.head.split(' ')[1] });
      expect(login === true).toBe(['jwt', 'member'].includes(route!.auth.kind));
    },
  );
});

describe('the help of each command', () => {
  const documented = [
    ...Object.entries(examples),
    ...described.map(([path, name, one]) => [path, one.examples.map((each) => `${name} ${each}`.trimStart())] as const),
  ];

  it.each(documented)('the examples in the help of %s are valid commands', async (path, lines) => {
    const { stdout } = await cli([...path.split(' '), '--help']);
    const env = { SUPPORT_URL: `http://127.0.0.1:${await freePort()}`, SUPPORT_API_KEY: 'none', SUPPORT_ORG: 'org_1' };
    for (const line of lines) {
      expect(stdout).toContain(`  $ support-platform ${line}\n`);
      // Commands that prompt at a terminal and operator commands on the database are not run here.
      if (/^(login --email \S+|password-link .*|reseal|doctor|ops .*)$/.test(line)) continue;
      const { code, stderr } = await cli(wordsOf(line), env, 'secret of twelve letters');
      expect([line, code, stderr]).not.toEqual([line, 2, expect.anything()]);
    }
  });

  it('the help of the command gaps says that its option lists only the unanswered questions with one status', async () => {
    expect((await cli(['gaps', '--help'])).stdout).toContain('only those with this status');
  });

  it('the help of meetings summary calls its argument a meeting, and its option the length', async () => {
    const { stdout } = await cli(['meetings', 'summary', '--help']);
    expect(stdout).toContain('meetings summary [options] <meeting>');
    expect(stdout).toContain('--length');
  });

  it('the help of crawl start gives the limits of its options, and says how to end a schedule', async () => {
    const help = (await cli(['crawl', 'start', '--help'])).stdout.replaceAll(/\s+/g, ' ');
    for (const words of ['1 to 1,000; 50 unless told', '1 to 720 hours', 'crawl unschedule'])
      expect(help).toContain(words);
  });

  it('the help offers to remove a due date of a task, and no value of an interview', async () => {
    const help = async (noun: string) => (await cli([noun, 'update', '--help'])).stdout.replaceAll(/\s+/g, ' ');
    expect(await help('tasks')).toContain('none removes it');
    expect(await help('interviews')).toContain('--scheduled-at');
    expect(await help('interviews')).not.toContain('none removes it');
  });

  it('every command has help', async () => {
    const leaves = async (path: string[]): Promise<string[]> => {
      const { stdout } = await cli([...path, '--help']);
      const [, below = ''] = stdout.split('\nCommands:\n');
      const names = [...below.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!).filter((name) => name !== 'help');
      return names.length === 0
        ? [path.join(' ')]
        : (await Promise.all(names.map((name) => leaves([...path, name])))).flat();
    };
    expect((await leaves([])).toSorted()).toEqual(documented.map(([name]) => name).toSorted());
  });
});

describe('arguments of commands', () => {
  it.each([
    ['text in place of a number', ['deliveries', 'list', '--limit', 'many'], 'Give a whole number'],
    ['an unknown choice', ['tasks', 'create', 'A', '--priority', 'soon'], 'Allowed choices'],
    ['invalid JSON', ['tools', 'set', '--oauth', '{'], 'Give JSON'],
    ['a missing argument', ['members', 'invite', 'ada@example.com'], 'missing required argument'],
    ['a missing option', ['integrations', 'connect', 'github', '--token', 'a'], 'required option'],
    ['an identifier that is a path', ['tasks', 'show', '../x'], 'not an identifier'],
    ['an unknown service', ['integrations', 'test', 'fax'], 'Allowed choices'],
    [
      '`none` for a value that cannot be removed',
      ['interviews', 'update', 'int_1', '--scheduled-at', 'none'],
      'can be replaced, but not removed',
    ],
  ])('wrong usage ends with exit code 2: %s', async (_, args, sentence) => {
    expect(await cli(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
  });

  it('a command that needs a login fails with only an API key, and a refused command ends with exit code 1', async () => {
    const alone = await cli(['members', 'list'], { SUPPORT_API_KEY: key });
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('it needs a login') });
    const { fails } = of(org);
    expect(await fails(['sessions', 'mint', '--email', 'ada@example.com'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('takes a secret API key'),
    });
    expect(await fails(['tasks', 'create', 'A', '--due-date', 'soon'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('due_date: must be an ISO 8601 date'),
    });
  });
});

describe('with a key', () => {
  it('sessions are minted with an API key, and their tokens work until a logged-in member revokes them', async () => {
    const { say, json } = of(org, key);
    const minted = await json([
      'sessions',
      'mint',
      '--external-id',
      '4711',
      '--name',
      'Ada',
      '--ttl-seconds',
      '600',
      '--segment',
      'cards',
    ]);
    expect(minted).toMatchObject({ session_id: expect.stringMatching(/^ssn_/), mode: 'test' });
    const history = () => api.request('GET', `/support/chat/history/${org.orgId}`, { token: minted.token });
    expect((await history()).status).toBe(200);
    expect(await say(['sessions', 'revoke', minted.session_id])).toBe(`Revoked ${minted.session_id}\n`);
    await until(async () => (await history()).status === 401, 'the session to be over');
  });

  it('docs add --wait does not wait when embeddings are off, and prints the reason', async () => {
    const path = join(folder, 'vault.md');
    await writeFile(path, 'The vault opens at ten.');
    const ended = await cli(['docs', 'add', path, '--wait'], { SUPPORT_API_KEY: key });
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('vault.md: indexed'),
      stderr: expect.stringContaining('compares nothing by meaning'),
    });
  });

  it('with an API key, the CLI shows and changes the configuration, sets a setting to null, and reads a secret setting from stdin', async () => {
    const { say, json } = of(org, key);
    await json(['config', 'set', '--kb-segment-strict', '--outbox-webhook-url', 'https://example.com/hook']);
    await say(['config', 'set', '--outbox-webhook-secret', '-'], 'whsec_c2VjcmV0IG9mIHR3ZW50eS1mb3VyIGJ5dGVz\n');
    const { config } = await json(['config', 'get']);
    expect(config).toMatchObject({
      kb_segment_strict: true,
      outbox_webhook_url: 'https://example.com/hook',
      has_outbox_webhook_secret: true,
    });
    const changed = await say(['config', 'set', '--no-kb-segment-strict', '--outbox-webhook-url', 'none']);
    expect(changed).toMatch(/^kb_segment_strict: false$/m);
    expect(changed).toMatch(/^outbox_webhook_url: -$/m);
  });

  it('with an API key, a tool server is connected and its tools are approved, withdrawn and audited', async () => {
    const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
    const mcp = await startTestMcp(tool('balance'), tool('block'));
    try {
      const own = await api.newOrg();
      const { say, json, fails } = of(own, (await api.newKey(own)).token);
      expect(await say(['tools', 'get'])).toContain('No tool server is connected');
      expect((await fails(['tools', 'approve', 'balance'])).code).toBe(1);
      const set = ['tools', 'set', '--endpoint-url', mcp.url, '--auth-type', 'bearer', '--access-token', '-'];
      expect(await say(set, 'tok\n')).toContain('has_access_token: true');
      expect(await say(['tools', 'discover'])).toMatch(/^balance +new +- +Does balance\.$/m);
      const approved = await say([
        'tools',
        'approve',
        'balance',
        '--risk-tier',
        'read_public',
        '--auth-scope',
        'public',
      ]);
      expect(approved).toMatch(/^balance is approved as balance: read_public, for public$/m);
      await say(['tools', 'approve', 'block', '--risk-tier', 'customer_confirm', '--auth-scope', 'verified_customer']);
      expect(await say(['tools', 'get'])).toMatch(/^balance +balance +read_public +public +enabled$/m);
      // A second approval without a tier keeps the tier.
      await say(['tools', 'approve', 'balance', '--timeout-ms', '9000']);
      expect((await json(['tools', 'get'])).server.approved_tools).toMatchObject([
        { source_name: 'block', risk_tier: 'customer_confirm' },
        { source_name: 'balance', risk_tier: 'read_public', timeout_ms: 9000 },
      ]);
      expect(await say(['tools', 'withdraw', 'block'])).toContain('block is not called any more');
      expect((await fails(['tools', 'withdraw', 'block'])).stderr).toContain('is not approved');
      const { events } = await json(['tools', 'audit', '--tool', 'balance', '--limit', '1']);
      expect(events).toMatchObject([{ action: 'tool_approved', tool: 'balance' }]);
      expect(await say(['tools', 'verify'])).toContain('intact: true');
      expect(await json(['approvals', 'list'])).toEqual({ count: 0, approvals: [] });
      expect((await fails(['approvals', 'deny', 'call_1'])).stderr).toContain('no such approval');
      expect(await say(['tools', 'disconnect'])).toContain('is disconnected');
    } finally {
      await mcp.close();
    }
  });

  it('the deliveries commands make a test delivery, and list, show, resend and recover deliveries', async () => {
    const receiver = await startReceiver();
    try {
      const own = await api.newOrg();
      await api.goLive(own);
      const { say, json } = of(own);
      const set = ['config', 'set', '--outbox-providers', 'webhook', '--outbox-webhook-url', receiver.url];
      await say([...set, '--outbox-webhook-secret', '-'], newSecret());
      expect(await say(['deliveries', 'list'])).toContain('There are no such deliveries');
      const { delivery } = await json(['deliveries', 'test']);
      await until(async () => receiver.received.length === 1, 'the test event');
      const delivered = async () => (await json(['deliveries', 'list', '--status', 'delivered'])).deliveries.length;
      await until(async () => (await delivered()) === 1, 'the delivery to be noted');
      expect(await say(['deliveries', 'show', delivery.delivery_id])).toMatch(
        /^attempts:\n {2}- at: .*\n {4}status_code: 204$/m,
      );
      expect(await say(['deliveries', 'redeliver', delivery.delivery_id])).toContain('is sent again');
      await until(async () => receiver.received.length === 2, 'the event again');
      expect(await say(['deliveries', 'recover', '2026-01-01T00:00:00Z'])).toBe('sent again: 0\n');
      await json(['deliveries', 'test']);
      expect((await json(['deliveries', 'list', '--limit', '1'])).deliveries).toHaveLength(1);
    } finally {
      await receiver.close();
    }
  });
});

describe('with a login', () => {
  it('with a login, members are listed and invited, and the last owner can neither lose the role nor be removed', async () => {
    const { say, json, fails } = of(org);
    expect((await json(['members', 'list'])).members).toMatchObject([{ email: org.owner.email, role: 'owner' }]);
    expect(await say(['members', 'list'])).toMatch(new RegExp(`^${org.owner.userId} +owner .*${org.owner.email}`, 'm'));
    expect(await say(['members', 'invitations'])).toContain('Nobody is invited');
    // No mail server is configured in this test, so the command prints the invitation link.
    const invited = await say(['members', 'invite', 'ada@example.com', 'member']);
    expect(invited).toMatch(/^Invited ada@example\.com as member, .*\nNo mail was sent; hand this link over: http/);
    const [{ invitation_id: id }] = (await json(['members', 'invitations'])).invitations;
    expect(await say(['members', 'uninvite', id])).toBe('ada@example.com is no longer invited\n');
    expect(await fails(['members', 'role', org.owner.userId, 'member'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('at least one owner'),
    });
    expect((await fails(['members', 'remove', org.owner.userId])).code).toBe(1);
    expect((await fails(['members', 'uninvite', 'inv_1'])).code).toBe(1);
  });

  it('with a login, the webhooks of the organization are shown and changed, and services are listed', async () => {
    const { say, json, fails } = of(org);
    await say(['webhooks', 'set', '--email-notifications', '--notify-on', 'task_created,meeting_ended']);
    expect(await json(['webhooks', 'get'])).toMatchObject({ notify_on: ['task_created', 'meeting_ended'] });
    expect(await say(['integrations', 'list'])).toMatch(/^linear +disconnected/m);
    expect((await fails(['integrations', 'test', 'linear'])).code).toBe(1);
  });

  it('with a login, a meeting gets a transcript, a summary and tasks that are worked on', async () => {
    const { say, json } = of(org);
    const made = await json([
      'meetings',
      'create',
      '--title',
      'Cards',
      '--timezone',
      'Europe/Berlin',
      '--ttl-days',
      '5',
    ]);
    const id = made.meeting_id as string;
    expect(made).toMatchObject({ ttl_days: 5, settings: { timezone: 'Europe/Berlin' } });
    const path = fileURLToPath(new URL('../fixtures/transcript.txt', import.meta.url));
    const lines = await readFile(path, 'utf8');
    const add = ['meetings', 'add', id, path, '--since', '2026-11-24T09:00:00Z'];
    expect(await say(add)).toBe('2 of 2 segments are new\n');
    expect(await say(['meetings', 'add', id, '-', '--since', '2026-11-24T09:00:00Z'], lines)).toBe(
      '0 of 2 segments are new\n',
    );
    const { transcript } = await json(['meetings', 'show', id]);
    expect(transcript).toMatchObject([
      { speaker: 'Ada', timestamp: '2026-11-24T09:00:00.000Z' },
      { speaker: 'Grace', text: 'Thank you. That is all.' },
    ]);
    expect(await say(['meetings', 'rename', id, 'New cards'])).toContain('New cards');
    expect(await say(['meetings', 'set', id, '--no-proactive-suggest'])).toContain('proactive_suggest: false');
    expect(await say(['meetings', 'end', id])).toBe(`${id} is completed\n`);
    expect(await say(['meetings', 'summary', id, '--length', 'long'])).not.toBe('');
    expect(await say(['meetings', 'find-tasks', id])).toMatch(/^1 new, 1 in all\n/);
    expect(await say(['meetings', 'list'])).toMatch(new RegExp(`^${id} +completed .*New cards$`, 'm'));
    const [found] = (await json(['meetings', 'tasks', id])).tasks;
    expect(await say(['tasks', 'update', found.task_id, '--status', 'completed', '--due-date', 'none'])).toContain(
      'status: completed',
    );
    expect((await json(['tasks', 'list', '--status', 'completed'])).tasks).toMatchObject([{ due_date: null }]);
    expect(await say(['meetings', 'rm', id])).toBe(`Deleted ${id}\n`);
  });

  it('with a login, a task is created, reviewed, executed and deleted', async () => {
    const { say, json } = of(org);
    const { task_id: id } = await json([
      'tasks',
      'create',
      'Order new cards',
      '--priority',
      'high',
      '--due-date',
      '2030-01-31',
    ]);
    expect(await say(['tasks', 'show', id])).toMatch(/^due_date: 2030-01-31$/m);
    expect(await say(['tasks', 'review', id])).toContain('executable: false');
    await say(['tasks', 'execute', id]);
    const status = async () => (await json(['tasks', 'result', id])).execution_status;
    await until(async () => (await status()) === 'failed', 'the execution, for which nothing is connected');
    expect(await say(['tasks', 'rm', id])).toBe(`Deleted ${id}\n`);
  });

  it('with a login, the interviews commands draft, create, change, start, cancel and delete an interview', async () => {
    const { say, json } = of(org);
    const { draft } = await json(['interviews', 'draft', 'A senior Go developer, 4 questions']);
    expect(draft.question_count).toBe(4);
    const asked = ['interviews', 'questions', 'Go developer', '--job-description', 'Builds services in Go.'];
    const questions = await say([
      ...asked,
      '--required-skills',
      'go',
      '--experience-level',
      'senior',
      '--question-count',
      '3',
    ]);
    expect(questions.trimEnd().split('\n')).toHaveLength(3);
    const made = [
      'interviews',
      'create',
      'Go developer',
      '--skills',
      'go,mongodb',
      '--led-by',
      'solo',
      '--question-count',
      '2',
    ];
    const { interview_id: id } = await json(made);
    expect(await say(['interviews', 'update', id, '--candidate-email', 'ada@example.com'])).toContain(
      'ada@example.com',
    );
    expect(await say(['interviews', 'list', '--status', 'draft'])).toMatch(new RegExp(`^${id} +draft +solo`, 'm'));
    const resume = join(folder, 'resume.txt');
    await writeFile(resume, 'no PDF');
    const { fails } = of(org);
    expect((await fails(['interviews', 'resume', id, resume])).code).toBe(1);
    expect(await say(['interviews', 'related', id])).toContain('There are no related interviews');
    expect(await say(['interviews', 'start', id])).toMatch(/^candidate +http/m);
    expect((await fails(['interviews', 'decide', id, 'hire'])).stderr).not.toBe('');
    expect(await say(['interviews', 'cancel', id, '--reason', 'The candidate is ill.'])).toContain(
      `${id} is cancelled`,
    );
    expect(await say(['interviews', 'rm', id])).toBe(`Deleted ${id}\n`);
  });
});

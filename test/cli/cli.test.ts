/**
 * The command-line tool as people and scripts use it, against the system of the test run. Commands run in this process,
 * and the real program runs where the test is about it: exit codes, a terminal, the stored login.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { PassThrough } from 'node:stream';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, it, expect } from '@jest/globals';
import { run } from '../../cli/program.ts';
import { freePort } from '../../engines/ports.ts';
import { runCli } from '../kit/cli.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';
import { page, startSite } from '../kit/sites.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = join(root, 'cli', 'main.ts');
const api = system();
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
const password = 'correct horse battery';

type Ended = { code: number | null; stdout: string; stderr: string };
type Options = { input?: string; env?: Record<string, string>; cwd?: string };

let folder: string;
let org: TestOrg;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'support-cli-'));
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function start(
  command: string,
  args: readonly string[],
  { input = '', env = {}, cwd = folder }: Options = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const inherited = {
      PATH: process.env['PATH'],
      // The same setting as in `npm run cli`.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    };
    const child = spawn(command, args, { cwd, env: { ...inherited, ...envWith(env) } });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** Runs the tool in its own process, in the same environment as `cli`. */
const program = (args: readonly string[], options?: Options) => start(process.execPath, [main, ...args], options);

/** The environment of the tool. Set XDG_CONFIG_HOME for a configuration that other tests do not share. */
const envWith = (env: Record<string, string> = {}) => ({
  HOME: folder,
  XDG_CONFIG_HOME: join(folder, 'config'),
  SUPPORT_URL: api.url,
  ...env,
});

/** Runs the tool in this process. */
const cli = (args: readonly string[], { input, env }: { input?: string; env?: Record<string, string> } = {}) =>
  runCli(args, envWith(env), input);

/** Runs the tool as a script does that uses the organization's key. */
const withKey = (...args: string[]) => cli(args, { env: { SUPPORT_API_KEY: key } });

// oxlint-disable-next-line typescript/no-explicit-any -- checked by the test that reads it
async function json<T = any>(...args: string[]): Promise<T> {
  const ended = await withKey(...args, '--json');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout) as T;
}

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** A separate configuration folder for a login. */
const elsewhere = (name: string) => ({ XDG_CONFIG_HOME: join(folder, name) });
const loginOf = (name: string) => join(folder, name, 'support-platform', 'credentials.json');

async function login(name: string, email: string): Promise<Record<string, string>> {
  const env = elsewhere(name);
  const ended = await cli(['login', '--email', email, '--password-stdin'], { env, input: `${password}\n` });
  expect(ended.code).toBe(0);
  return env;
}

describe('support-platform register, login, logout', () => {
  it('registering also logs in, and the file with the stored login can be read only by its owner', async () => {
    const env = elsewhere('register');
    const email = `cli-${Date.now()}@example.com`;
    const args = ['register', '--email', email, '--name', 'Ada', '--company', 'Ada & Co', '--password-stdin'];
    const ended = await program(args, { env, input: `${password}\n` });
    expect(ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(`Logged in as ${email}`) });
    expect((await stat(loginOf('register'))).mode & 0o777).toBe(0o600);
    const { stdout } = await cli(['org', 'list', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ organizations: [{ name: 'Ada & Co', role: 'owner' }] });
  });

  it('a wrong password ends with exit code 1 and one sentence, and nothing is stored', async () => {
    const ended = await cli(['login', '--email', org.owner.email, '--password-stdin'], {
      env: elsewhere('wrong'),
      input: 'not the password\n',
    });
    expect(ended).toEqual({ code: 1, stdout: '', stderr: 'The e-mail or the password is wrong.\n' });
    await expect(stat(loginOf('wrong'))).rejects.toThrow('ENOENT');
  });

  it('a stored login is not sent to another server address', async () => {
    const env = await login('addresses', org.owner.email);
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.end('{}');
    });
    const { url, close } = await listening(other);
    const ended = await cli(['org', 'list'], { env: { ...env, SUPPORT_URL: url } });
    await close();
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('You are not logged in') });
    expect(seen).toEqual([]);
  });

  it('logout --everywhere ends every login of the account', async () => {
    const user = await api.newUser();
    const env = await login('everywhere', user.email);
    expect(await cli(['logout', '--everywhere'], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(loginOf('everywhere'), 'utf8')).not.toContain('token');
    expect((await api.request('GET', '/me', { token: user.token })).status).toBe(401);
  });

  it("password-link, run on the server's machine, prints a link that sets a new password once", async () => {
    const user = await api.newUser();
    const database = new URL(process.env['TEST_MONGODB_URI']!);
    database.pathname = '/shared';
    const env = { MONGODB_URI: database.href, DATA_DIR: join(folder, 'operator') };
    // A process of its own shows that nothing keeps it from ending.
    const made = await program(['password-link', user.email.toUpperCase(), '--json'], { env });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { link } = JSON.parse(made.stdout) as { link: string };
    const token = /^http:\/\/127\.0\.0\.1:3000\/account#password_reset=([\w-]{43})$/.exec(link)?.[1];
    const reset = () =>
      api.request('POST', '/auth/password/reset', { body: { token, password: 'a brand new password' } });
    expect([(await reset()).status, (await reset()).status]).toEqual([200, 409]);
    expect((await api.request('GET', '/me', { token: user.token })).status).toBe(401);
    const again = await api.request('POST', '/auth/login', {
      body: { email: user.email, password: 'a brand new password' },
    });
    // A password set by an operator’s link does not verify the account’s e-mail address.
    const { body } = await api.request('GET', '/me', { token: again.body.data.token });
    expect(body.data.email_verified).toBe(false);

    const nobody = await cli(['password-link', 'nobody-at-all@example.com'], { env });
    expect(nobody).toEqual({ code: 1, stdout: '', stderr: 'There is no account with this e-mail.\n' });
    const nowhere = await cli(['password-link', user.email], { env: { DATA_DIR: join(folder, 'nothing') } });
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('set MONGODB_URI') });
  });

  it('logout deletes the stored login', async () => {
    const env = await login('logout', org.owner.email);
    expect(await cli(['logout'], { env })).toMatchObject({ code: 0 });
    expect(await readFile(loginOf('logout'), 'utf8')).not.toContain('token');
    expect(await cli(['keys', 'list'], { env })).toMatchObject({ code: 1 });
  });

  it('a password typed at a terminal is not shown', async () => {
    const { code, stdout } = await start(
      'python3',
      ['-c', onTerminal, org.owner.email, password, process.execPath, main, 'login'],
      { env: elsewhere('terminal') },
    );
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Logged in as ${org.owner.email}`),
    });
    expect(stdout).not.toContain(password);
  });

  it('without a terminal, a command that needs a password ends with exit code 2 at once', async () => {
    expect(await cli(['login', '--email', 'ada@example.com'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--password-stdin'),
    });
  });
});

/** Types the given text at each prompt of a program in a pseudo-terminal, and prints what the terminal showed. */
const onTerminal = `
import os, pty, sys
answers = sys.argv[1:3]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[3], sys.argv[3:])
shown, answered = b'', 0
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if answers and [b'E-mail: ', b'Password: '][answered] in shown:
        os.write(terminal, answers.pop(0).encode() + b'\\r')
        answered += 1
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

describe('support-platform org', () => {
  it('a user of several organizations must choose one, and going live and back takes one command each', async () => {
    const owner = await api.newUser();
    const env = await login('orgs', owner.email);
    expect(await cli(['docs', 'list'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no organization yet'),
    });
    const ids = [];
    for (const name of ['First', 'Second']) {
      const created = await cli(['org', 'create', name, '--json'], { env });
      ids.push((JSON.parse(created.stdout) as { org_id: string }).org_id);
    }
    expect(await cli(['docs', 'list'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('2 organizations'),
    });
    expect(await cli(['org', 'use', ids[0]!], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('First'),
    });
    expect(await cli(['docs', 'list'], { env })).toMatchObject({ code: 0 });
    const live = await cli(['org', 'go-live', ids[0]!], { env });
    expect([live.code, live.stdout]).toEqual([
      0,
      `${ids[0]} is live.\nIn live mode: 0 documents, 0 pages, 0 approved tools, 0 changed settings.\nIn test mode: 0 documents, 0 pages.\n`,
    ]);
    const { stdout } = await cli(['org', 'list'], { env });
    expect(stdout).toMatch(new RegExp(`\\* ${ids[0]} +production +owner .* First\n`));
    expect(stdout).toMatch(new RegExp(`  ${ids[1]} +sandbox +owner .* Second\n`));
    const back = await cli(['org', 'go-live', ids[0]!, '--back', '--json'], { env });
    expect(JSON.parse(back.stdout)).toEqual({ org_id: ids[0], environment: 'sandbox' });
  });

  it('going live lists what exists only in test mode, and --copy copies it to live mode', async () => {
    const owner = await api.newUser();
    const own = await api.newOrg(owner);
    const env = await login('copying', owner.email);
    const file = join(folder, 'gannet.md');
    await writeFile(file, '# Gannet cards\nThe gannet card costs 12 EUR a year.\n');
    expect(await cli(['docs', 'add', file], { env })).toMatchObject({ code: 0 });
    expect((await cli(['org', 'go-live', own.orgId], { env })).stdout).toContain('take that of test mode over');
    const asked = await cli(['ask', 'What does the gannet card cost?'], { env });
    expect(asked.stderr).toBe('This is live mode, which holds nothing of test mode; to look there, add --mode test.\n');
    expect((await cli(['docs', 'list', '--mode', 'live'], { env })).stderr).toContain('This is live mode');
    expect((await cli(['pages', 'list'], { env })).stderr).toBe('');

    const copied = await cli(['org', 'go-live', own.orgId, '--copy'], { env });
    expect([copied.code, copied.stdout]).toEqual([0, expect.stringContaining('In live mode: 1 document, 0 pages')]);
    const found = async () => (await cli(['ask', 'What does the gannet card cost?'], { env })).stdout;
    await until(async () => (await found()).includes('12 EUR'), 'the document to answer in live mode');
    const live = (await api.newKey(own, { mode: 'live' })).token;
    const empty = await cli(['pages', 'list'], { env: { SUPPORT_API_KEY: live } });
    expect(empty.stderr).toContain('use a key of test mode');
  });

  it('choosing the organization of somebody else fails with exit code 1', async () => {
    const env = await login('strangers', (await api.newUser()).email);
    expect(await cli(['org', 'use', org.orgId], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no such organization'),
    });
  });
});

describe('support-platform keys', () => {
  it('a created key works at once and stops when revoked, and an API key cannot manage keys', async () => {
    const env = { ...(await login('keys', org.owner.email)), SUPPORT_ORG: org.orgId };
    const created = await cli(['keys', 'create', 'script', '--scopes', 'support:read', '--json'], { env });
    const { key, token } = JSON.parse(created.stdout) as { key: { key_id: string }; token: string };
    const asKey = { SUPPORT_API_KEY: token, ...elsewhere('none') };
    expect(await cli(['docs', 'list', '--json'], { env: asKey })).toMatchObject({ code: 0 });
    expect(await cli(['keys', 'list'], { env: asKey })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs a login'),
    });
    expect((await cli(['keys', 'list'], { env })).stdout).toMatch(
      new RegExp(`${key.key_id} .* active +test .*support:read +script`),
    );
    expect(await cli(['keys', 'revoke', key.key_id], { env })).toMatchObject({ code: 0 });
    expect((await cli(['keys', 'list'], { env })).stdout).toMatch(new RegExp(`${key.key_id} .* revoked`));
    await until(
      async () => (await api.request('GET', `/orgs/${org.orgId}/documents`, { token })).status === 401,
      'the key to be refused',
    );
  });

  it('the error about a refused field names the field, and the command ends with exit code 1', async () => {
    const env = { ...(await login('refused', org.owner.email)), SUPPORT_ORG: org.orgId };
    const ended = await cli(['keys', 'create', 'x', '--scopes', 'everything', '--json'], { env });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(ended.stderr)).toMatchObject({
      code: 'VALIDATION',
      status: 400,
      details: [{ path: ['body', 'scopes', 0] }],
    });
  });
});

describe('support-platform docs, ask, gaps', () => {
  it('an added document answers questions when the command ends, and no longer after it is removed', async () => {
    const path = await file('parking.md', '# Parking\n\nThe garage in Elm Street charges two euros an hour.\n');
    const added = await withKey('docs', 'add', path, '--segments', 'Drivers, Staff', '--authority', 'primary');
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const docId = /^parking\.md: indexed, \d+ passages, (doc_\w+)\n$/.exec(added.stdout)?.[1];
    expect(docId).toBeDefined();
    const question = 'What does the garage in Elm Street charge?';
    const { stdout } = await withKey('ask', question, '--segment', 'drivers');
    expect(stdout).toMatch(/two euros an hour[^]*Sources\n  \[1\] parking\.md  \(document doc_/);
    expect(await json('ask', question, '--segment', 'walkers')).toMatchObject({ has_context: false, sources: [] });
    expect(await withKey('docs', 'rm', docId!)).toEqual({ code: 0, stdout: `Deleted ${docId}\n`, stderr: '' });
    expect(await json('ask', question, '--segment', 'drivers')).toMatchObject({ has_context: false });
    expect(await withKey('docs', 'rm', docId!)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no such document'),
    });
    const gap = expect.objectContaining({ question, count: 2, status: 'open' });
    expect((await json('gaps')).gaps).toContainEqual(gap);
    expect((await json('gaps', '--limit', '200')).gaps).toContainEqual(gap);
  });

  it('when some of several files fail, the others are added and the exit code is 1', async () => {
    const good = await file('opening.txt', 'The counter opens at nine.');
    const refused = await file('picture.pdf', '%PDF-1.7 nothing');
    const missing = join(folder, 'missing.md');
    const ended = await withKey('docs', 'add', missing, refused, good, '--json');
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      added: 1,
      failed: 2,
      files: [
        { file: missing, ok: false, error: { code: 'FILE' } },
        { file: refused, ok: false, error: { code: 'UNSUPPORTED_FILE_TYPE', status: 415 } },
        { file: good, ok: true, duplicate: false, document: { status: 'indexed' } },
      ],
    });
    expect(JSON.parse(ended.stderr)).toMatchObject({ error: '2 of 3 documents were not added.', code: 'NOT_ADDED' });
    const again = await withKey('docs', 'add', good);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('opening.txt: already there') });
  });

  it('docs add names a file that cannot be read, and the reason in plain words', async () => {
    const ended = await withKey('docs', 'add', join(root, 'test', 'fixtures', 'encrypted.docx'));
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^encrypted\.docx: failed: The file is protected with a password/),
    });
  });

  it('docs tag, authority and reprocess change a document, and docs list shows its tags and authority', async () => {
    const { files } = await json('docs', 'add', await file('rates.csv', 'Rate;Price\nDay;9 EUR\nWeek;40 EUR\n'));
    const docId = files[0].document.doc_id as string;
    expect(await withKey('docs', 'tag', docId, 'Web Shop,app')).toEqual({
      code: 0,
      stdout: `${docId} is for: web_shop, app\n`,
      stderr: '',
    });
    expect(await withKey('docs', 'authority', docId, 'background')).toMatchObject({
      code: 0,
      stdout: `${docId} is background\n`,
    });
    expect(await json('docs', 'reprocess', docId)).toMatchObject({ document: { doc_id: docId, status: 'indexed' } });
    const { stdout } = await withKey('docs', 'list');
    expect(stdout).toMatch(
      new RegExp(`${docId} +indexed +- +test +background +\\d+ +[\\d.]+ K?i?B .* web_shop,app +rates\\.csv\n`),
    );
    expect(await withKey('docs', 'tag', docId, '')).toMatchObject({ stdout: `${docId} is for: everybody\n` });
  });

  it('ask --explain shows what was searched and which passages were relevant', async () => {
    await withKey('docs', 'add', await file('umbrella.md', '# Umbrellas\n\nUmbrellas may be borrowed at the desk.\n'));
    const { stdout } = await withKey('ask', 'Where may umbrellas be borrowed?', '--explain');
    expect(stdout).toMatch(/searched: Where may umbrellas be borrowed\?[^]*RELEVANT[^]*\nyes .*umbrella\.md/);
    expect((await json('ask', 'Where may umbrellas be borrowed?', '--explain')).explain).toMatchObject({
      mode: 'test',
      candidates: expect.any(Array),
    });
  });

  it('control characters in names and answers are printed as escaped text', async () => {
    const evil = 'a\u001b[2J\u009b31m\u202eb\u0007';
    const path = await file(`${evil}.md`, '# Notes\n\nThe vault code is red.\n');
    const added = await withKey('docs', 'add', path);
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('a\\u001b[2J\\u009b31m\\u202eb\\u0007.md: indexed'),
    });
    const document = { ...(await json('docs', 'list')).documents[0], filename: evil };
    const answer = {
      answer: `${evil}\nsecond line`,
      sources: [{ type: 'document', id: 'd', name: evil, score: 1 }],
      has_context: true,
      generated_by: 'model',
      degraded: false,
    };
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url?.includes('failing')) response.writeHead(500).end(JSON.stringify({ error: evil, code: evil }));
      else response.end(JSON.stringify({ ...answer, documents: [document], count: 1, cursor: null }));
    });
    const { url, close } = await listening(server);
    const env = { SUPPORT_URL: url, SUPPORT_API_KEY: key, SUPPORT_ORG: 'org_1' };
    const outputs = [added];
    for (const args of [
      ['docs', 'list'],
      ['ask', evil],
      ['docs', 'list', '--org', 'failing'],
    ]) {
      outputs.push(await cli(args, { env }), await cli([...args, '--json'], { env }));
    }
    await close();
    for (const { stdout, stderr } of outputs) {
      expect(stdout + stderr).toContain('\\u001b');
      expect(stdout + stderr).not.toMatch(obeyed);
    }
  });
});

describe('every support-platform command', () => {
  it.each([
    ['an unknown command', ['unknown'], 'unknown command'],
    ['no command', [], 'Usage:'],
    ['an unknown option', ['docs', 'list', '--colour'], 'unknown option'],
    ['a missing argument', ['docs', 'add'], 'missing required argument'],
    ['an unknown choice', ['docs', 'authority', 'doc_1', 'highest'], 'Allowed choices'],
    ['an identifier that is a path', ['docs', 'rm', '../../orgs'], 'not an identifier'],
    ['an invalid address', ['docs', 'list', '--url', 'localhost'], 'not an address'],
  ])('wrong usage ends with exit code 2: %s', async (_what, args, sentence) => {
    const text = await withKey(...args);
    expect(text).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
    const asJson = await withKey(...args, '--json');
    expect(asJson).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(asJson.stderr)).toMatchObject({ code: 'USAGE', error: expect.any(String) });
  });

  it('a command without a reachable server ends with exit code 1 and says what to do', async () => {
    const url = `http://127.0.0.1:${await freePort()}/v1`;
    const ended = await program(['docs', 'list', '--url', url, '--key', key]);
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `No server answers at ${url}; start one with npm start, or name another address with --url.\n`,
    });
    const asJson = await cli(['docs', 'list', '--url', url, '--key', key, '--json']);
    expect(JSON.parse(asJson.stderr)).toMatchObject({ code: 'NO_SERVER' });
  });

  it('the bin file runs from any folder and ends with the exit code of the command', async () => {
    const bin = join(root, 'cli', 'bin.mjs');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await start(bin, ['--version'], { cwd: tmpdir() })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(await start(bin, ['nothing'], { cwd: tmpdir() })).toMatchObject({ code: 2 });
  });
});

describe('crawl and pages', () => {
  it('the crawl and pages commands crawl a site, and list, tag, remove and prune its pages', async () => {
    const site = await startSite({
      '/': page('Linden', 'The linden branch opens at nine on every weekday.', ['/gone', '/fees.pdf']),
    });
    try {
      const env = { SUPPORT_API_KEY: key };
      const crawled = await cli(['crawl', 'start', site.url, '--watch', '--segments', 'Retail'], { env });
      expect([crawled.code, crawled.stderr]).toEqual([0, '']);
      expect(crawled.stdout).toContain('2 found, 1 processed (0 unchanged), 1 left out, 0 failed');
      expect(crawled.stdout).toContain('Reasons: 1 not_found, 1 file\n');
      expect(crawled.stdout).toContain(`${site.url}/gone: The page does not exist (404).`);
      const { entries } = JSON.parse((await cli(['pages', 'list', '--json'], { env })).stdout);
      expect(entries).toMatchObject([{ source_url: `${site.url}/`, segments: ['retail'], authority: 'background' }]);
      const id = entries[0].page_id as string;
      expect((await cli(['pages', 'tag', id, 'Business'], { env })).stdout).toBe(`${id} is for: business\n`);
      expect((await cli(['pages', 'authority', id, 'primary'], { env })).stdout).toBe(`${id} is primary\n`);
      expect((await cli(['crawl', 'status'], { env })).stdout).toContain('completed');
      expect((await cli(['prune'], { env })).stdout).toBe('1 pages are whole; 0 left-overs found\n');
      expect((await cli(['pages', 'rm', id], { env })).stdout).toBe(`Deleted ${id}\n`);
      expect((await cli(['pages', 'list'], { env })).stdout).toContain('There are no pages yet');
      const cancelled = await cli(['crawl', 'cancel'], { env });
      expect([cancelled.code, cancelled.stderr]).toEqual([1, expect.stringContaining('No crawl is running')]);
    } finally {
      await site.close();
    }
  });

  it('crawl commands schedule a recurring crawl, list the schedules and remove one', async () => {
    const site = await startSite({ '/': page('Rowan', 'The rowan branch is closed on Sundays.') });
    try {
      const env = { SUPPORT_API_KEY: key };
      expect((await cli(['crawl', 'schedules'], { env })).stdout).toContain('No site is crawled at an interval');
      const begun = await cli(['crawl', 'start', site.url, '--watch', '--every', '12'], { env });
      expect([begun.code, begun.stdout]).toEqual([0, expect.stringMatching(/^sched_\w+: again every 12 h, next 20/m)]);
      const { schedules, count } = JSON.parse((await cli(['crawl', 'schedules', '--json'], { env })).stdout);
      expect([count, schedules]).toMatchObject([1, [{ url: `${site.url}/`, every_hours: 12, last_crawl_id: null }]]);
      const id = schedules[0].schedule_id as string;
      const listed = await cli(['crawl', 'schedules'], { env });
      expect(listed.stdout).toMatch(new RegExp(`^${id} +test +12 h +\\S+ \\S+ +- +${site.url}/$`, 'm'));
      expect((await cli(['crawl', 'unschedule', id], { env })).stdout).toBe(`Removed ${id}; its pages stay.\n`);
      expect((await cli(['crawl', 'unschedule', id], { env })).code).toBe(1);
      expect((await cli(['crawl', 'start', site.url, '--every', 'often'], { env })).code).toBe(2);
    } finally {
      await site.close();
    }
  });
});

describe('inbox', () => {
  it('inbox commands list conversations, show one, reply to it, escalate it and resolve it', async () => {
    const own = await api.newOrg();
    const { token } = await api.newKey(own);
    const env = { SUPPORT_API_KEY: token };
    expect((await cli(['inbox', 'list'], { env })).stdout).toContain('There are no such conversations');
    const session = await api.newSession(own, { key: token });
    const said = { token: session.token, body: { body: 'Where is my \u001b[31mcard?' } };
    const { body } = await api.request('POST', `/support/chat/messages/${own.orgId}`, said);
    const id = body.conv_id as string;
    const path = `/support/inbox/orgs/${own.orgId}/${id}`;
    const messages = async () => (await api.request('GET', path, { token })).body.messages;
    await until(async () => (await messages()).length === 2, 'the agent to have answered');
    const listed = await cli(['inbox', 'list', '--assigned-to', 'none'], { env });
    expect(listed.stdout).toMatch(new RegExp(`^${id} +test +open +1 +`, 'm'));
    expect((await cli(['inbox', 'list', '--status', 'resolved', '--json'], { env })).stdout).toContain('"count": 0');
    expect((await cli(['inbox', 'reply', id, 'We are looking for it.'], { env })).stdout).toMatch(/^Sent msg_\w+\n$/);
    const shown = await cli(['inbox', 'show', id], { env });
    expect(shown.stdout).toContain('Where is my \\u001b[31mcard?');
    expect(shown.stdout).toMatch(/Test Organization\n {2}We are looking for it\.\n$/);
    expect(shown.stdout).not.toMatch(obeyed);
    const escalated = await cli(['inbox', 'escalate', id, '--reason', 'It is a card of another bank.'], { env });
    expect(escalated.stdout).toBe(`${id} is escalated\n`);
    expect((await cli(['inbox', 'show', id], { env })).stdout).toContain('escalated: It is a card of another bank.');
    expect((await cli(['inbox', 'resolve', id], { env })).stdout).toBe(`${id} is resolved\n`);
    const again = await cli(['inbox', 'resolve', id], { env });
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('resolved')]);
  });
});

describe('inbox and notifications with a login', () => {
  it('commands with a login assign and reopen a conversation, and list, read and follow notifications', async () => {
    const own = await api.newOrg();
    const { token } = await api.newKey(own);
    const env = { ...(await login('told', own.owner.email)), SUPPORT_ORG: own.orgId };
    const session = await api.newSession(own, { key: token });
    const say = async (body: string): Promise<string> => {
      const path = `/support/chat/messages/${own.orgId}`;
      return (await api.request('POST', path, { token: session.token, body: { body } })).body.conv_id;
    };
    const id = await say('Hello?');
    const shown = () => api.request('GET', `/support/inbox/orgs/${own.orgId}/${id}`, { token });
    await until(async () => (await shown()).body.messages.length === 2, 'the agent to have answered');
    const assigned = (to: string) => cli(['inbox', 'assign', id, to], { env });
    expect((await assigned('none')).stdout).toBe(`${id} is nobody’s\n`);
    expect((await assigned('me')).stdout).toBe(`${id} is ${own.owner.userId}’s\n`);
    expect((await assigned('usr_nobody')).code).toBe(1);
    const withoutLogin = await cli(['inbox', 'assign', id, 'me'], {
      env: { SUPPORT_API_KEY: token, ...elsewhere('no') },
    });
    expect([withoutLogin.code, withoutLogin.stderr]).toEqual([1, expect.stringContaining('needs a login')]);
    for (const what of ['resolve', 'reopen']) expect((await cli(['inbox', what, id], { env })).code).toBe(0);

    expect((await cli(['notifications', 'list'], { env })).stdout).toBe('There are no such notifications.\n');
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const following = run(['notifications', 'follow', '--count', '1'], { env: envWith(env), stdin, stdout, stderr });
    // The command shows only what happens after it has said that it waits.
    expect(String((await once(stderr, 'data'))[0])).toContain('Waiting for notifications');
    expect((await cli(['inbox', 'escalate', id], { env })).code).toBe(0);
    expect(await following).toBe(0);
    const followed = String(stdout.read());
    expect(followed).toContain('conversation_escalated');
    expect(followed).toContain(`\n  Conversation ${id}\n`);

    const list = async (...args: string[]) =>
      JSON.parse((await cli(['notifications', 'list', '--json', ...args], { env })).stdout);
    const { notifications, unread_count } = await list('--unread', 'true');
    expect([notifications[0].conv_id, unread_count]).toEqual([id, notifications.length]);
    const { notif_id } = notifications[0];
    expect((await cli(['notifications', 'list'], { env })).stdout).toMatch(
      new RegExp(`^${notif_id} +no +\\S+ \\S+ +conversation_escalated +${id} +A conversation of`, 'm'),
    );
    expect((await cli(['notifications', 'read', notif_id], { env })).stdout).toBe(`Read ${notif_id}\n`);
    expect((await list('--unread', 'true')).unread_count).toBe(unread_count - 1);
  });
});

/**
 * `npm start` as a person uses it. Every link and command that it prints works, Ctrl-C ends all processes, and the next
 * start finds all data.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';
import { giveBuilt } from '../kit/processes.ts';
import { freePort } from '../../engines/ports.ts';
import { restartPause } from '../../engines/supervisor.ts';
import { isAlive } from '../../engines/takelock.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
let port: number;
const started: Start[] = [];
/** Every process of a system that was started here: engines, API and worker. */
const seen = new Set<number>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'support-start-'));
  port = await freePort();
});

afterAll(async () => {
  await rememberProcesses();
  // The guards end the engines of a killed start.
  for (const { child } of started) if (child.exitCode === null) child.kill('SIGKILL');
  await until(() => Promise.resolve(![...seen].some(isAlive)), 'all processes to end');
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

type Start = { child: ChildProcess; output: () => string; ended: Promise<number | null> };

/** The data folder that most tests here share. */
const dataDir = (): string => join(folder, 'data');

function start(env: Record<string, string>): Start {
  const { MONGODB_URI: _m, TEMPORAL_ADDRESS: _t, ...rest } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'engines', 'start.ts')], {
    env: { ...rest, PORT: String(port), DATA_DIR: dataDir(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const one = { child, output: () => output, ended };
  started.push(one);
  return one;
}

/** Waits until the start shows its screen. */
async function ready(one: Start): Promise<string> {
  await until(() => Promise.resolve(one.child.exitCode !== null || /^ready /m.test(one.output())), 'the screen');
  await rememberProcesses();
  expect(one.output()).toMatch(/^ready /m);
  return one.output();
}

async function rememberProcesses(): Promise<number[]> {
  const text = await readFile(join(dataDir(), 'engines.json'), 'utf8').catch(() => '{}');
  const { pids = [] } = JSON.parse(text) as { pids?: number[] };
  for (const pid of pids) seen.add(pid);
  return pids;
}

/** The processes whose command line names this folder: the engines of a start that has not listed them yet. */
async function enginesIn(dataDir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_, at) => commands[at]!.includes(dataDir));
}

const curlsOf = (screen: string): string[] => screen.split('\n').filter((line) => line.startsWith('curl '));

/** Runs one of the command lines of the screen in a shell and returns its JSON output. */
// oxlint-disable-next-line typescript/no-explicit-any -- what a reply holds is what its test finds out
async function paste(line: string): Promise<any> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line]);
  return JSON.parse(stdout);
}

/** Gets a page under another host name. `fetch` cannot set the header `Host`. */
async function textAt(url: string, headers: Record<string, string>): Promise<string> {
  const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  return (await response.toArray()).join('');
}

/**
 * Checks the page at `/`: it has the links of the screen, its calls work with the key of the screen, and it contains no
 * secret. Only requests from this machine also get the link that signs in to the team page.
 */
async function startPageWorks(url: string, screen: string): Promise<void> {
  const row = (name: string): string => new RegExp(`^  ${name} +(\\S+)`, 'm').exec(screen)![1]!;
  expect(screen).toContain('EGRESS_ALLOW=');
  const page = await (await fetch(row('Start page'))).text();
  const links = [...page.matchAll(/href="(?!data:)([^"]+)"/g)].map(([, href]) => new URL(href!, url).href);
  expect(links).toEqual(expect.arrayContaining([row('Docs'), row('Chat widget'), `${row('Temporal UI')}/`]));
  for (const link of links) expect([link, (await fetch(link)).status]).toEqual([link, 200]);
  const [key, password] = [row('Test key'), /password (\S+)$/m.exec(screen)![1]!];
  expect(page).not.toContain(key);
  expect(links.filter((link) => link.includes(password))).toEqual([
    expect.stringMatching(/\/app#email=.+&amp;password=/),
  ]);
  const elsewhere = await textAt(url, { host: 'support.example' });
  for (const secret of [key, password]) expect(elsewhere).not.toContain(secret);
  const text = page.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  const lines = text.match(/^(<pre><code>)?(export ORG|curl ).*$/gm)!.map((line) => line.replace(/<[^>]+>/g, ''));
  const [named, upload, list, ask] = lines as [string, string, string, string];
  const given = `${named.replace('svc_sk_test_…', key)}; `;
  expect((await paste(given + upload)).document.filename).toBe('parking.md');
  expect((await paste(given + list)).documents).not.toEqual([]);
  expect(await paste(given + ask)).toMatchObject({ answer: expect.any(String) });
}

it('npm start shows a working login, keeps its data over a restart, and restarts a dead API or worker', async () => {
  const first = start({});
  const screen = await ready(first);
  const url = `http://127.0.0.1:${port}`;
  const [upload, list, ask] = curlsOf(screen) as [string, string, string];
  const { document } = await paste(upload);
  await until(
    async () =>
      (await paste(list)).documents.some(
        ({ doc_id, status }: { doc_id: string; status: string }) => doc_id === document.doc_id && status === 'indexed',
      ),
    'the document',
  );
  const { answer, sources } = await paste(ask);
  expect(answer).toMatch(/3 EUR/);
  expect(sources.map(({ name }: { name: string }) => name)).toEqual(['parking.md']);
  const { email, password } = /^  Login +(?<email>\S+), password (?<password>\S+)$/m.exec(screen)!.groups!;
  expect(screen).toMatch(new RegExp(`^export SUPPORT_URL=${url}/v1 && npm run -s cli -- login --email ${email}$`, 'm'));
  const login = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  };
  expect((await fetch(`${url}/v1/auth/login`, login)).status).toBe(200);
  await startPageWorks(url, screen);
  const pids = await rememberProcesses();
  expect(pids.map(isAlive)).toEqual([true, true, true, true]);

  const second = start({ PORT: String(await freePort()) });
  expect([await second.ended, second.output()]).toEqual([
    1,
    expect.stringMatching(/^Another npm start \(process \d+\) uses .*another PORT and DATA_DIR\.\n$/),
  ]);

  first.child.kill('SIGTERM');
  expect([await first.ended, first.output().trimEnd().split('\n').at(-1)]).toEqual([0, 'stopped']);
  expect(pids.filter(isAlive)).toEqual([]);

  const again = start({ EMBEDDING: 'off' });
  const lines = curlsOf(await ready(again));
  expect(lines).toEqual([upload, list, ask]);
  const { documents } = await paste(list);
  expect(documents.map(({ doc_id }: { doc_id: string }) => doc_id)).toContain(document.doc_id);
  await outlivesDeaths(again);
});

/** Checks that the start restarts a dead API and worker and reports it, and that it ends when Temporal dies. */
async function outlivesDeaths(one: Start): Promise<void> {
  const pids = await rememberProcesses();
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')));
  const running = (name: string): number => pids[commands.findIndex((command) => command.includes(name))]!;
  const said = (sentence: string): Promise<boolean> =>
    until(() => Promise.resolve(one.output().includes(sentence)), sentence);
  process.kill(running('api/server.ts'), 'SIGKILL');
  process.kill(running('workers/main.ts'), 'SIGKILL');
  await said('The API stopped with code 137.');
  await said('The API is started again in 1 s.');
  await Promise.all([said('The API was started again.'), said('The worker was started again.')]);
  const healthy = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(healthy, 'the API that was started again');
  const now = await rememberProcesses();
  expect([now.map(isAlive), new Set([...pids, ...now]).size]).toEqual([[true, true, true, true], 6]);

  process.kill(running('temporal'), 'SIGKILL');
  expect(await one.ended).toBe(1);
  expect(one.output()).toMatch(/^Temporal stopped with code 137\./m);
  expect((await rememberProcesses()).filter(isAlive)).toEqual([]);
}

it('npm start that gets Ctrl-C during the start ends its engines, and exits with 0', async () => {
  const early = join(folder, 'early');
  const one = start({ DATA_DIR: early, PORT: String(await freePort()), EMBEDDING: 'off' });
  const isUp = () => one.child.exitCode !== null || one.output().includes('MongoDB is ready');
  await until(() => Promise.resolve(isUp()), 'MongoDB');
  const engines = await enginesIn(early);
  for (const pid of engines) seen.add(pid);
  expect(engines).not.toEqual([]);
  one.child.kill('SIGINT');
  // If Temporal was ready before MongoDB, the API and the worker start before they are stopped.
  expect([await one.ended, one.output()]).toEqual([0, expect.stringMatching(/^stopped( while starting)?\n$/m)]);
  expect(one.output()).not.toMatch(/^ready /m);
  // A shell that guarded an engine ends right after the engine.
  await until(async () => (await enginesIn(early)).length === 0, 'the engines to end');
});

it('a process that keeps dying is restarted after pauses that grow from 1 to 30 s, and shrink after a minute of running', () => {
  const pauses = [0, 1, 2, 3, 4, 5, 6].reduce<number[]>((all) => [...all, restartPause(all.at(-1) ?? 0, 59_999)], []);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(restartPause(30_000, 60_000)).toBe(1_000);
});

it('npm start fails with an error that names the port when the port is taken', async () => {
  const { port, close } = await listening(createServer());
  const taken = String(port);
  const one = start({ PORT: taken, DATA_DIR: join(folder, 'taken') });
  expect([await one.ended, one.output()]).toEqual([
    1,
    expect.stringMatching(`^Port ${taken} is taken by another program`),
  ]);
  await close();
});

it('npm start fails with an error that names the HOST when this machine does not have that address', async () => {
  const one = start({ HOST: '192.0.2.1', DATA_DIR: join(folder, 'elsewhere') });
  expect([await one.ended, one.output()]).toEqual([
    1,
    expect.stringMatching(/^HOST is 192\.0\.2\.1, which is no address/),
  ]);
});

it('npm start fails with an error that names the database when the database is unreachable', async () => {
  const dataDir = join(folder, 'nobody');
  await giveBuilt(dataDir);
  const env = {
    DATA_DIR: dataDir,
    MONGODB_URI: 'mongodb://127.0.0.1:1/',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
  const one = start({ ...env, PORT: String(await freePort()) });
  expect(await one.ended).toBe(1);
  expect(one.output()).toMatch(/MongoDB at 127\.0\.0\.1:1 does not answer .*MONGODB_URI/);
  expect(one.output()).not.toMatch(/is ready/);
});

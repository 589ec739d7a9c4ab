/**
 * Benchmark of a large team. It measures the processor time and memory of an API process under 50 conversations a
 * minute, first without any open page, then with the open pages of 200 members. Each page does what `/app` does: it
 * follows the inbox, and after each change it rereads the open conversation.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { cpuMs, inLanes, onStage, startBeside } from './stage.ts';
import { apiAt, until, type Api, type TestOrg, type TestUser } from '../test/kit/harness.ts';
import { address } from '../test/kit/staffsocket.ts';

const small = process.argv.includes('small');
const members = small ? 20 : 200;
const perMinute = 50;
const seconds = small ? 20 : 90;
/** The goal: CPU time and memory with the members' pages are at most this multiple of those without. */
const asked = 1.5;

type Page = { socket: WebSocket; token: string; shown?: string; frames: Map<string, number>; busy: boolean };
type Used = { cpu: number; memory: number };

export async function run(): Promise<void> {
  await onStage(async (stage) => {
    const process = await startBeside(stage);
    const api = apiAt(process.url);
    const pid = process.child.pid;
    try {
      const org = await api.newOrg();
      const key = (await api.newKey(org)).token;
      const users = [org.owner];
      await inLanes(Array.from({ length: members - 1 }), 4, async () => void users.push(await api.join(org)));
      // This warms up the process: the first conversations load what later ones share.
      await converse(api, org, key, 10, []);
      const without = await measure(pid, () => converse(api, org, key, seconds, []));
      const pages: Page[] = [];
      const calm = await measure(pid, () => sleep(5_000));
      // Pages are opened one after the other, because the members of a team do not all come in the same second.
      for (const user of users) {
        pages.push(await openPage(api, org, user));
        await sleep(100);
      }
      const opened = await measure(pid, () => sleep(5_000));
      const withMembers = await measure(pid, () => converse(api, org, key, seconds, pages));
      const frames = countedIn(pages);
      for (const { socket } of pages) socket.close();
      const after = await measure(pid, () => converse(api, org, key, seconds, []));
      say('without members', without);
      say(`with ${members} members, who got ${frames}`, withMembers);
      say('without members again', after);
      say('idle for 5 s', calm);
      say('the same with all pages open', opened);
      const base = { cpu: (without.cpu + after.cpu) / 2, memory: without.memory };
      for (const what of ['cpu', 'memory'] as const) {
        const share = withMembers[what] / base[what];
        const verdict = share <= asked ? 'reached' : 'not reached';
        console.log(`${what}: ${share.toFixed(2)} times (asked for: at most ${asked}): ${verdict}`);
      }
    } finally {
      await process.stop();
    }
  });
}

function countedIn(pages: readonly Page[]): string {
  const sums = new Map<string, number>();
  for (const { frames } of pages) for (const [type, count] of frames) sums.set(type, (sums.get(type) ?? 0) + count);
  return [...sums].map(([type, count]) => `${count} ${type}`).join(', ');
}

async function memoryOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/mu.exec(status)![1]) / 1024;
}

async function measure(pid: number | undefined, work: () => Promise<unknown>): Promise<Used> {
  const before = await cpuMs(pid);
  await work();
  return { cpu: (await cpuMs(pid)) - before, memory: await memoryOf(pid) };
}

const say = (what: string, { cpu, memory }: Used): void =>
  console.log(`${what}: ${(cpu / 1000).toFixed(1)} s of CPU, ${Math.round(memory)} MiB`);

async function openPage(api: Api, org: TestOrg, { token }: TestUser): Promise<Page> {
  const socket = new WebSocket(await address(api, org.orgId, token));
  const page: Page = { socket, token, frames: new Map(), busy: false };
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString('utf8')) as { type: string; conversation?: { conv_id: string } };
    page.frames.set(frame.type, (page.frames.get(frame.type) ?? 0) + 1);
    if (frame.type === 'conversation' && frame.conversation!.conv_id === page.shown) void readShown(api, org, page);
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  await api.request('GET', `/support/inbox/orgs/${org.orgId}?sort=waiting&limit=100`, { token });
  return page;
}

/** Reads the conversation that a page shows; one request at a time, as the page does. */
async function readShown(api: Api, org: TestOrg, page: Page): Promise<void> {
  if (page.busy) return;
  page.busy = true;
  await api.request('GET', `/support/inbox/orgs/${org.orgId}/${page.shown}?limit=50`, { token: page.token });
  page.busy = false;
}

/**
 * Simulates customers who come at even intervals. Each one asks a question, asks for a person and gets a person's
 * reply; then the conversation is resolved.
 */
async function converse(api: Api, org: TestOrg, key: string, forSeconds: number, pages: Page[]): Promise<void> {
  const everyMs = 60_000 / perMinute;
  const running: Promise<void>[] = [];
  const began = performance.now();
  for (let at = 0; at * everyMs < forSeconds * 1_000; at += 1) {
    await sleep(Math.max(0, began + at * everyMs - performance.now()));
    running.push(one(api, org, key, pages, at));
  }
  await Promise.all(running);
}

async function one(api: Api, org: TestOrg, key: string, pages: Page[], at: number): Promise<void> {
  const { token } = await api.newSession(org, { key });
  const path = `/support/chat/messages/${org.orgId}`;
  const { body } = await api.request('POST', path, { token, body: { body: 'Where is my card?' } });
  const convId = body.conv_id as string;
  const page = pages.length > 0 ? pages[at % pages.length]! : undefined;
  if (page) {
    page.shown = convId;
    page.socket.send(JSON.stringify({ type: 'viewing', conv_id: convId, doing: 'reading' }));
    await readShown(api, org, page);
  }
  await api.request('POST', path, { token, body: { body: 'I want to talk to a person.' } });
  const inbox = `/support/inbox/orgs/${org.orgId}/${convId}`;
  await until(
    async () => (await api.request('GET', inbox, { token: key })).body.conversation?.status === 'escalated',
    'a person to be called',
  );
  for (const [act, given] of [
    ['reply', { body: 'It is on its way.' }],
    ['resolve', {}],
  ] as const)
    await api.request('POST', `${inbox}/${act}`, { token: page?.token ?? key, body: given });
}

/**
 * Benchmark of listing many tasks, page by page. Goals: with 100,000 tasks in one organization and a filter, p99 under
 * 30 ms, and page 1,000 as fast as page 1.
 */
import { MongoClient } from 'mongodb';
import { quantile, type Stage } from './stage.ts';

const count = 100_000;
const pages = 1_000;
/** The page size: with a filter that keeps a third of 100,000 tasks, there are 1,000 pages. */
const limit = 33;
const statuses = ['pending', 'in_progress', 'completed'];

export async function listing({ base, orgId, mongodbUri, dataDir }: Stage): Promise<void> {
  const token = await ownerToken(base, dataDir);
  const call = async (path: string, method = 'GET', body?: object) => {
    const reply = await fetch(`${base}/orgs/${orgId}/tasks${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const { data } = (await reply.json()) as { data: { task_id: string; count: number; cursor: string | null } };
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status}`);
    return data;
  };
  const me = await fetch(`${base}/auth/me`, { headers: { authorization: `Bearer ${token}` } });
  const { userId } = ((await me.json()) as { data: { user: { userId: string } } }).data.user;
  const { task_id: first } = await call('', 'POST', {
    title: 'Send the sheet',
    description: 'By mail. '.repeat(20),
    assigned_to: userId,
  });
  await fill(mongodbUri, first);
  console.log(`Listing ${count} tasks of one organization, ${limit} a page (asked: p99 30 ms, flat to page ${pages}):`);
  for (const filter of ['status=pending', `assigned_to=${userId}`, `assigned_to=${userId}&status=completed`])
    await walk(call, filter, userId);
  await whileWritten(call, first);
}

type Call = (path: string, method?: string, body?: object) => Promise<{ count: number; cursor: string | null }>;

async function ownerToken(base: string, dataDir: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const demo = JSON.parse(await readFile(`${dataDir}/demo.json`, 'utf8')) as { email: string; password: string };
  const reply = await fetch(`${base}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: demo.email, password: demo.password }),
  });
  return ((await reply.json()) as { data: { token: string } }).data.token;
}

/** Stores copies of the first task, with every status. */
async function fill(mongodbUri: string, first: string): Promise<void> {
  const client = await MongoClient.connect(mongodbUri);
  try {
    const tasks = client.db().collection<{ _id: string }>('tasks');
    // Pending work of the first task is left out; otherwise it would be done for each copy.
    const model = (await tasks.findOne({ _id: first }, { projection: { pending: 0, unannounced: 0 } }))!;
    const id = (n: number) => `${first.slice(0, 10)}${String(n).padStart(21, '0')}`;
    for (let from = 1; from < count; from += 1_000) {
      const batch = Array.from({ length: Math.min(1_000, count - from) }, (_, n) => ({
        ...model,
        unannounced: [],
        _id: id(from + n),
        status: statuses[(from + n) % statuses.length],
      }));
      await tasks.insertMany(batch);
    }
  } finally {
    await client.close();
  }
}

async function walk(call: Call, filter: string, userId: string): Promise<void> {
  const times: number[] = [];
  let cursor: string | null = null;
  let all = 0;
  do {
    const began = performance.now();
    const page: { count: number; cursor: string | null } = await call(
      `?${filter}&limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    times.push(performance.now() - began);
    ({ cursor } = page);
    all = page.count;
  } while (cursor !== null && times.length < pages);
  console.log(`  ${filter.replace(userId, '…').padEnd(32)} ${shown(times)}, count ${all}`);
  console.log(`    ${''.padEnd(30)} first 100 pages ${shown(times.slice(0, 100))}`);
  console.log(`    ${''.padEnd(30)} last 100 pages  ${shown(times.slice(-100))}`);
}

/** Reads the first page, each time after a change, which invalidates the cached count. */
async function whileWritten(call: Call, first: string): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < 200; n += 1) {
    await call(`/${first}`, 'PUT', { status: statuses[n % 2] });
    const began = performance.now();
    await call(`?status=pending&limit=${limit}`);
    times.push(performance.now() - began);
  }
  console.log(`  ${'page 1 after each change'.padEnd(32)} ${shown(times)}`);
}

function shown(times: readonly number[]): string {
  return `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms (${times.length} pages)`;
}

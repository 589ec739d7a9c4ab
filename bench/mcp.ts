/**
 * Benchmark of the agent calling a tool of an organization's own server in conversations, compared with the official
 * client calling the same server. Goals: at most 25 ms added at p50; 1,000 audited calls with a valid hash chain; an
 * audit event appended in under 2 ms at p50. `npm run bench -- mcp CALLS`: the number of calls; 1,000 by default.
 */
import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { inLanes, onStage, quantile, type Stage } from './stage.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { createSecretBox } from '../models/base/secretbox.ts';
import { auditWriter, verifyAudit } from '../models/mcp/audit.ts';
import { until } from '../test/kit/harness.ts';
import { startTestMcp, type TestMcp } from '../test/kit/mcp-server.ts';
import { ChatClient } from '../test/kit/socket.ts';

const target = { added: 25, append: 2, calls: 1_000 };
/** This many calls are made one by one, each next to a direct call; the others run in parallel. */
const compared = 200;
const lanes = 8;
const warmUp = 24;

const inputSchema = { type: 'object', properties: { parcel_number: { type: 'string' } }, required: ['parcel_number'] };
const tool = { name: 'track_parcel', description: 'Tracks a parcel.', inputSchema };
const question = (n: number): string => `Please track my parcel P-${10_000 + n}`;

export async function run(): Promise<void> {
  const calls = Math.max(compared, Number(process.argv[3] ?? target.calls));
  const mcp = await startTestMcp({
    ...tool,
    answer: ({ parcel_number }) => ({ content: [{ type: 'text', text: `${String(parcel_number)} is in Leeds.` }] }),
  });
  try {
    await onStage((stage) => measure(stage, mcp, calls), {
      EGRESS_ALLOW: '127.0.0.1',
      LIMITS: 'test_replies_per_minute=1000000',
    });
  } finally {
    await mcp.close();
  }
}

async function measure(stage: Stage, mcp: TestMcp, calls: number): Promise<void> {
  await connectTool(stage, mcp);
  const direct = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await direct.connect(new StreamableHTTPClientTransport(new URL(mcp.url)));
  const chats = await Promise.all(Array.from({ length: lanes }, (_, lane) => chatWith(stage, lane)));
  let asked = 0;
  const ask = async (chat: ChatClient): Promise<number> => {
    asked += 1;
    const wanted = `P-${10_000 + asked} is in Leeds.`;
    const began = performance.now();
    chat.say(question(asked));
    await chat.frame('reply_end', ({ body }) => body.endsWith(wanted));
    const took = performance.now() - began;
    chat.frames.length = 0;
    return took;
  };
  await Promise.all(
    chats.map(async (chat) => {
      for (let n = 0; n < warmUp / lanes; n += 1) await ask(chat);
    }),
  );

  const [turns, alone]: number[][] = [[], []];
  const from = new Date();
  for (let n = 0; n < compared; n += 1) {
    turns!.push(await ask(chats[0]!));
    const began = performance.now();
    await direct.callTool({ name: tool.name, arguments: { parcel_number: `D-${n}` } });
    alone!.push(performance.now() - began);
  }
  const through = (await audited(stage, `&from=${from.toISOString()}`)).map(({ duration_ms }) => duration_ms);
  const queue = Array.from({ length: calls - compared });
  const free = [...chats];
  const began = performance.now();
  await inLanes(queue, lanes, async () => {
    const chat = free.pop()!;
    await ask(chat);
    free.push(chat);
  });
  const seconds = (performance.now() - began) / 1000;
  const verified = (await get(stage, '/audit/verify')) as { intact: boolean; checked: number };
  const ok = (await audited(stage, '')).length;
  for (const chat of chats) chat.drop();
  await direct.close();
  const append = await appending(stage);

  const row = (name: string, values: readonly number[]): string =>
    `  ${name.padEnd(58)} p50 ${quantile(values, 0.5).toFixed(1)} ms, p95 ${quantile(values, 0.95).toFixed(1)} ms`;
  const added = quantile(through, 0.5) - quantile(alone!, 0.5);
  console.log(row('the official client, directly', alone!));
  console.log(row('through the platform, from the wish to the stored result', through));
  console.log(row('the customer’s whole turn, from message to answer', turns!));
  console.log(`  added at p50: ${added.toFixed(1)} ms (asked: at most ${target.added})`);
  console.log(`  in ${lanes} conversations at once: ${(queue.length / seconds).toFixed(0)} calls a second`);
  console.log(
    `  audited calls: ${ok - warmUp} of ${calls}; ${verified.checked} events, chain ${verified.intact ? 'intact' : 'BROKEN'}`,
  );
  console.log(`  appending an audit event: p50 ${quantile(append, 0.5).toFixed(2)} ms (asked: under ${target.append})`);
  console.log(`  calls that reached the server: ${mcp.calls.length - compared - warmUp} of ${calls}`);
}

async function get({ base, orgId, key }: Stage, path: string): Promise<unknown> {
  const reply = await fetch(`${base}/support/mcp/orgs/${orgId}${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return reply.json();
}

async function connectTool({ base, orgId, key }: Stage, { url }: TestMcp): Promise<void> {
  const { name: source_name, description, inputSchema: input_schema } = tool;
  const approved = { source_name, description, input_schema, risk_tier: 'read_public', auth_scope: 'public' };
  const reply = await fetch(`${base}/support/mcp/orgs/${orgId}/server`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint_url: url, rate_limit_per_min: 10_000, approved_tools: [approved] }),
  });
  if (!reply.ok) throw new Error(`The tool server was not connected: ${await reply.text()}`);
}

async function chatWith({ url, orgId, publishableKey }: Stage, lane: number): Promise<ChatClient> {
  const visitorId = `bench-visitor-${String(lane).padStart(8, '0')}`;
  return new ChatClient(orgId, { pk: publishableKey, visitorId }).connect(url);
}

type Audited = { duration_ms: number };
/** The audit events of successful calls, from all pages. The last call is audited shortly after its answer. */
async function audited(stage: Stage, query: string): Promise<Audited[]> {
  let found: Audited[] = [];
  let before = -1;
  await until(async () => {
    before = found.length;
    found = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = (await get(stage, `/audit?outcome=ok&limit=100${query}${cursor && `&cursor=${cursor}`}`)) as {
        events: Audited[];
        next_cursor: string | null;
      };
      found.push(...page.events);
      cursor = page.next_cursor;
    }
    return found.length === before;
  }, 'the audit to be at rest');
  return found;
}

/** The times of appending audit events one after another, in ms. */
async function appending({ mongodbUri }: Stage): Promise<number[]> {
  await connectMongo(mongodbUri);
  try {
    const secrets = createSecretBox([randomBytes(32)]);
    const audit = auditWriter({ clock: () => new Date(), secrets });
    const org_id = 'org_bench_audit';
    const times: number[] = [];
    for (let n = 0; n < target.calls; n += 1) {
      const began = performance.now();
      await audit({ org_id, mode: 'test', kind: 'invocation', actor: 'agent', action: 'call', outcome: 'ok' });
      times.push(performance.now() - began);
    }
    const { intact, checked } = await verifyAudit(org_id, secrets);
    if (!intact || checked !== target.calls) throw new Error('The chain of appended events does not hold.');
    return times;
  } finally {
    await disconnectMongo();
  }
}

/**
 * Benchmark of signed webhooks of other services to one API process. Goals: 500 a second, each answered with p99 under
 * 50 ms and processed once. `npm run bench -- inbound SECONDS`: how long it sends; 20 s by default.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { onStage, quantile, type Stage } from './stage.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { collectionOf } from '../models/base/define.ts';
import { InboundModel } from '../models/events/inbound.ts';
import { connectIntegration } from '../models/integrations/integration.ts';
import { linearExternal } from '../providers/linear/rules.ts';

const target = { rate: 500, p99: 50 };
const secret = 'bench-linear-secret';
const warmUpSeconds = 3;
/** The number of issues that the events concern. Events of one issue are processed sequentially. */
const issues = 200;
/** How long processing may continue after the last request, in s. */
const patience = 120;

export async function run(): Promise<void> {
  const seconds = Number(process.argv[3] ?? 20);
  await onStage(async (stage) => measure(stage, seconds), { LINEAR_WEBHOOK_SECRET: secret });
}

async function measure({ base, orgId, mongodbUri }: Stage, seconds: number): Promise<void> {
  await connectMongo(mongodbUri);
  const team = randomUUID();
  const connected = { account: 'bench', settings: { team_id: team }, events_of: linearExternal(team) };
  await connectIntegration(orgId, 'linear', connected, new Date());
  const ids = Array.from({ length: issues }, () => randomUUID());
  const agent = new Agent({ connections: 64, pipelining: 1 });
  const send = async (n: number): Promise<{ ms: number; status: number }> => {
    const body = JSON.stringify({
      action: 'update',
      type: 'Issue',
      data: { id: ids[n % issues], teamId: team, title: `Issue ${n}`, stateId: 'doing' },
      updatedFrom: { title: 'before' },
      webhookTimestamp: Date.now(),
      webhookId: 'bench',
    });
    const began = performance.now();
    const reply = await request(`${base}/webhooks/linear`, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'linear-delivery': randomUUID(),
        'linear-signature': createHmac('sha256', secret).update(body).digest('hex'),
      },
      body,
    });
    await reply.body.dump();
    return { ms: performance.now() - began, status: reply.statusCode };
  };
  /** Sends at a constant rate, independent of the responses. */
  const during = async (length: number, from: number) => {
    const began = performance.now();
    const sent: Promise<{ ms: number; status: number }>[] = [];
    for (let n = 0; n < length * target.rate; n += 1) {
      const due = began + (n * 1000) / target.rate;
      if (due > performance.now()) await sleep(due - performance.now());
      sent.push(send(from + n));
    }
    const replies = await Promise.all(sent);
    return { replies, took: (performance.now() - began) / 1000 };
  };
  await during(warmUpSeconds, 0);
  const { replies, took } = await during(seconds, 1_000_000);
  const times = replies.map(({ ms }) => ms);
  const wrong = replies.filter(({ status }) => status !== 200).length;
  const at = (share: number): string => quantile(times, share).toFixed(1);
  console.log(
    `Signed requests at one API process: ${replies.length} in ${took.toFixed(1)} s, ${wrong} not answered 200`,
  );
  console.log(
    `  ${(replies.length / took).toFixed(0)} a second, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  );

  const total = replies.length + warmUpSeconds * target.rate;
  const inbound = collectionOf(InboundModel);
  const ended = performance.now();
  while ((await inbound.countDocuments({ org_id: orgId, status: 'stored' })) > 0) {
    if (performance.now() - ended > patience * 1000) break;
    await sleep(100);
  }
  const waited = (performance.now() - ended) / 1000;
  const [stored, once] = await Promise.all([
    inbound.countDocuments({ org_id: orgId }),
    inbound.countDocuments({ org_id: orgId, status: 'ignored', attempts: 1 }),
  ]);
  console.log(`  ${stored} stored, ${once} processed once, the last one ${waited.toFixed(1)} s after the last request`);
  const missed = [
    ...(replies.length / took < 0.98 * target.rate ? ['500 a second'] : []),
    ...(quantile(times, 0.99) > target.p99 ? ['p99 under 50 ms'] : []),
    ...(wrong > 0 || stored !== total || once !== total ? ['each processed once'] : []),
  ];
  console.log(missed.length === 0 ? 'All that was asked for was reached.' : `Not reached: ${missed.join('; ')}`);
  if (missed.length > 0) process.exitCode = 1;
  await agent.close();
  await disconnectMongo();
}

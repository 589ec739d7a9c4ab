/**
 * The production shape (engines/cluster/) under a mixed load, while MongoDB's primary steps down and is frozen and
 * one process of each kind is killed: nothing that was acknowledged is lost or done twice.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MongoClient, type Db } from 'mongodb';
import { startCluster, type Cluster } from '../../engines/cluster/cluster.ts';
import { freePort } from '../../engines/ports.ts';
import { apiAt, until, type Api, type Reply, type TestOrg } from '../kit/harness.ts';
import { builtName, giveBuilt, systemEnv } from '../kit/processes.ts';
import { outboxOf, startReceiver, type Receiver } from '../kit/receiver.ts';
import { page, startSite, type TestSite } from '../kit/sites.ts';
import { ChatClient, mint } from '../kit/socket.ts';

const customers = 4;
/** The pages of the crawled site, beside its start page. */
const pagesBeside = 12;

let cluster: Cluster;
let api: Api;
let receiver: Receiver;
let site: TestSite;
const dataDir = mkdtempSync(join(tmpdir(), 'support-cluster-'));
beforeAll(async () => {
  // PostgreSQL runs as another user when this process is root, so that user needs access to the folder.
  await chmod(dataDir, 0o755);
  await giveBuilt(join(dataDir, 'ours'));
  const { LIMITS, SERVICE_URLS, EGRESS_ALLOW } = systemEnv('cluster', { LIMITS: 'plan_documents=10000' });
  cluster = await startCluster({
    dataDir,
    port: await freePort(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], LIMITS, SERVICE_URLS, EGRESS_ALLOW },
    // The report of a process's death ends with the last lines of the process; its first line is enough here.
    report: (line) => void process.stderr.write(`${line.split('\n', 1)[0]}\n`),
    program: (entry) => fileURLToPath(new URL(builtName(entry), process.env['TEST_PROGRAMS'])),
  });
  api = apiAt(cluster.url);
  receiver = await startReceiver();
  const pages = Object.fromEntries(
    Array.from({ length: pagesBeside }, (_, n) => [`/${n}`, page(`Page ${n}`, `Counter ${n} opens at ${n} o'clock.`)]),
  );
  const links = Object.keys(pages);
  site = await startSite({ '/': page('Start', 'The counters of the branch.', links), ...pages });
}, 600_000);
afterAll(async () => {
  await cluster?.stop();
  await receiver?.close();
  await site?.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Repeats a request until the balancer, an API process and its engines are all available. */
async function untilDone(ask: () => Promise<Reply>, wanted: readonly number[]): Promise<Reply> {
  return until(async () => {
    const reply = await ask().catch(() => undefined);
    // The idempotency key of a request stays in use for some seconds after the process of the request has died.
    const held = reply?.body.code === 'IDEMPOTENCY_KEY_IN_PROGRESS';
    if (reply === undefined || reply.status >= 500 || held) return undefined;
    if (!wanted.includes(reply.status)) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    return reply;
  }, 'an answer of the API');
}

/** A customer who writes until the load ends, and repeats what was not acknowledged. */
async function customer(org: TestOrg, key: string, over: AbortSignal) {
  const { token } = await mint(api, org, { key });
  const chat = new ChatClient(org.orgId, { sessionToken: token });
  const sent: string[] = [];
  const connect = () =>
    until(async () => {
      await (chat.convId === undefined ? chat.connect(cluster.url) : chat.resume(cluster.url));
      return chat.isOpen;
    }, 'a socket');
  const answered = (id: string): boolean => {
    const acked = chat.all('ack').find(({ client_message_id: client }) => client === id);
    return acked !== undefined && chat.all('reply_end').some(({ seq }) => seq > acked.seq);
  };
  await connect();
  const writing = (async () => {
    while (!over.aborted) {
      const id = crypto.randomUUID();
      sent.push(id);
      chat.say('Thank you!', id);
      let saidAt = performance.now();
      await until(async () => {
        if (answered(id)) return true;
        if (!chat.isOpen) await connect();
        else if (performance.now() - saidAt < 5_000) return false;
        saidAt = performance.now();
        chat.say('Thank you!', id);
        return false;
      }, `the answer to message ${sent.length}`);
      await sleep(200);
    }
  })();
  return { chat, sent, writing };
}

it('after one process of each kind was killed, every message, document and page exists once, and every ticket’s event was delivered', async () => {
  const org = await outboxOf(api).newOrg(receiver.url);
  const over = new AbortController();
  const chats = await Promise.all(Array.from({ length: customers }, () => customer(org, org.key, over.signal)));
  const documents: string[] = [];
  const tickets: string[] = [];
  const others = (async () => {
    for (let n = 1; !over.signal.aborted; n += 1) {
      const key = crypto.randomUUID();
      const file = { name: `box-${n}.md`, content: `# Box ${n}\n\nThe safe deposit box ${n} costs ${n} EUR a year.` };
      const stored = await untilDone(() => api.upload(org.orgId, org.key, file, {}, { 'idempotency-key': key }), [201]);
      documents.push(stored.body.document.doc_id);
      const { convId } = await until(
        () =>
          outboxOf(api)
            .newConversation(org)
            .catch(() => undefined),
        'a conversation',
      );
      tickets.push(convId);
      await untilDone(
        () =>
          api.request('POST', `/support/inbox/orgs/${org.orgId}/${convId}/escalate`, {
            token: org.key,
            body: { reason: 'Killed.' },
          }),
        [200, 409],
      );
      // The pause keeps the number of documents below a hundred, so that one page lists them all.
      await sleep(4_000);
    }
  })();
  const crawl = await untilDone(
    () => api.request('POST', `/orgs/${org.orgId}/crawl`, { token: org.key, body: { url: `${site.url}/` } }),
    [202],
  );
  const goesOn = async (after: string): Promise<void> => {
    const before = chats.map(({ sent }) => sent.length);
    // Every customer continues to write and gets answers.
    await until(
      async () => chats.every(({ sent }, at) => sent.length > before[at]! + 1),
      () => `answers after ${after}: ${JSON.stringify(chats.map(({ chat }) => [chat.convId, chat.seq, chat.isOpen]))}`,
    );
  };
  await onPrimary((admin) => admin.command({ replSetStepDown: 10 }));
  await goesOn('the primary stepped down');
  // A frozen primary counts as dead, and continues when another member is the primary.
  const frozen = cluster.pid(await primary());
  process.kill(frozen, 'SIGSTOP');
  await goesOn('the primary stood still');
  process.kill(frozen, 'SIGCONT');
  await goesOn('it went on');
  for (const service of ['primary', ...cluster.services.filter((name) => !/^mongo|[a-z]{3}2$/.test(name))]) {
    await cluster.kill(service === 'primary' ? await primary() : service);
    await goesOn(`the death of ${service}`);
  }
  over.abort();
  await Promise.all([...chats.map(({ writing }) => writing), others]);
  for (const { chat, sent } of chats) {
    const shown = [...chat.shown.values()];
    expect(shown.filter(({ role }) => role === 'customer')).toHaveLength(sent.length);
    expect(shown.filter(({ role }) => role === 'ai')).toHaveLength(sent.length);
    expect(chat.faults).toEqual([]);
    await chat.close();
  }
  for (const docId of documents)
    expect(await api.processed(org.orgId, org.key, docId)).toMatchObject({ status: 'indexed' });
  const { body: listed } = await api.request('GET', `/orgs/${org.orgId}/documents?limit=100`, { token: org.key });
  expect(listed.documents).toHaveLength(documents.length);
  const ended = await until(async () => {
    const { body } = await api.request('GET', `/orgs/${org.orgId}/crawl/status`, { token: org.key });
    return body.status.status !== 'crawling' && body.status;
  }, 'the crawl to end');
  expect(ended).toMatchObject({ crawl_id: crawl.body.crawl_id, status: 'completed' });
  const { body: crawled } = await api.request('GET', `/orgs/${org.orgId}/knowledge-base?limit=100`, { token: org.key });
  expect(crawled.count).toBe(1 + pagesBeside);
  // A delivery whose receipt was lost may come twice, with the same id. None is missing.
  const told = await until(async () => {
    const escalated = receiver.received.filter(({ event }) => event.type === 'ticket.created');
    const of = new Set(escalated.map(({ event }) => event.data.conversation.conv_id));
    return tickets.every((convId) => of.has(convId)) && of;
  }, 'the deliveries');
  expect(told.size).toBe(tickets.length);
}, 600_000);

async function onPrimary<T>(ask: (admin: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(cluster.mongodbUri);
  try {
    return await ask(client.db('admin'));
  } finally {
    await client.close();
  }
}

/** The member that is the primary now. */
async function primary(): Promise<string> {
  const { members } = await onPrimary((admin) => admin.command({ replSetGetStatus: 1 }));
  const at = (members as { stateStr: string }[]).findIndex(({ stateStr }) => stateStr === 'PRIMARY');
  return `mongo${at + 1}`;
}

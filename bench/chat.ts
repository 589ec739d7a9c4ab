/**
 * Benchmark of the chat as customers experience it. Goals: With extractive answers, the first frame of an answer comes
 * p50 under 60 ms and p99 under 250 ms after the message. The chat adds under 40 ms to a model that answers instantly,
 * and the embedding models add at most 15 ms to the first frame. An idle socket takes at most 1.5 times the memory of a
 * bare `ws` server's. With 20 customers at once, nothing is lost, duplicated or reordered. A message takes at most 3
 * Temporal actions.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { watched, type Alive, type Watched } from './heap.ts';
import { actionsOf, inLanes, onStage, quantile, untilIndexed, type Stage } from './stage.ts';
import { apiAt, type Api } from '../test/kit/harness.ts';
import { startOpenAiServer, type OpenAiServer } from '../test/kit/openai-server.ts';
import { startProcess } from '../test/kit/processes.ts';
import { ChatClient, chatUrl } from '../test/kit/socket.ts';

const target = { p50: 60, p99: 250, added: 40, memory: 1.5, actions: 3, reading: 15 };
const warmUp = 40;
const customers = 10;
const messagesEach = 20;
/** The pause between an answer and the next message, in ms. */
const pauseMs = 250;
const crowd = 20;
const crowdMessages = 10;
const sockets = 2_000;
/** The number of sessions and sockets opened concurrently. */
const lanes = 8;
/** The help centre of test/fixtures answers each question, and no question depends on an earlier one. */
export const questions = [
  'Who can open an account with you?',
  'How long does opening an account in the app take?',
  'When does a SEPA transfer reach the other bank?',
  'What do I do when I have forgotten my app code?',
  'How do I return a direct debit?',
  'Which phones does the app run on?',
];

/** The parts that can be run separately: `npm run bench -- chat sockets`. */
const parts = ['answers', 'crowd', 'sockets', 'model', 'reading'] as const;
type Part = (typeof parts)[number];

export async function run(): Promise<void> {
  const asked = process.argv[3];
  const chosen = (part: Part): boolean => asked === undefined || asked === part;
  if (!parts.some(chosen)) throw new Error(`There are only: ${parts.join(', ')}`);
  const missed: string[] = [];
  const api = watched('api/server.ts');
  if (asked !== 'model' && asked !== 'reading') {
    await onStage(
      async (stage) => {
        await untilIndexed(stage);
        if (chosen('answers')) missed.push(...(await extractive(stage)));
        if (chosen('crowd')) missed.push(...(await atOnce(stage)));
        if (chosen('sockets')) missed.push(...(await idleSockets(stage, api)));
      },
      api.settings,
      { help: true },
    );
  }
  if (chosen('model')) missed.push(...(await withModel()));
  if (chosen('reading')) missed.push(...(await byMeaning()));
  console.log(missed.length === 0 ? 'All that was asked for was reached.' : `Not reached: ${missed.join('; ')}`);
  if (missed.length > 0) process.exitCode = 1;
}

/** When the frames of an answer arrived, in ms after its message was sent. `text`: the first text frame. */
type Seen = { ack: number; start: number; text: number; end: number };

/** A new customer with an open connection. `body`: the body of the request that creates the session. */
export async function newCustomer({ url, orgId, key }: Stage, body = {}): Promise<ChatClient> {
  const { token } = await apiAt(url).newSession({ orgId, owner: undefined as never }, { key, body });
  const client = await new ChatClient(orgId, { sessionToken: token }).connect(url);
  await client.frame('history');
  return client;
}

export async function ask(client: ChatClient, body: string): Promise<Seen> {
  const began = performance.now();
  const seen: Partial<Seen> = {};
  const { promise, resolve } = Promise.withResolvers<void>();
  client.heard = (frame) => {
    const at = performance.now() - began;
    if (frame.type === 'ack') seen.ack ??= at;
    if (frame.type === 'reply_start') seen.start ??= at;
    if (frame.type === 'reply_chunk') seen.text ??= at;
    if (frame.type !== 'reply_end') return;
    seen.end = at;
    resolve();
  };
  client.say(body, crypto.randomUUID());
  await promise;
  return seen as Seen;
}

function told(list: readonly number[]): string {
  const at = (share: number): string => quantile(list, share).toFixed(0).padStart(4);
  return `p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}

/**
 * Lets several customers each ask the same number of questions, one after the other. Prints the times and returns them.
 */
async function inTurn(
  stage: Stage,
  worded = (question: string): string => question,
): Promise<{ seen: Seen[]; clients: ChatClient[] }> {
  const first = await newCustomer(stage);
  for (let n = 0; n < warmUp; n += 1) await ask(first, worded(questions[n % questions.length]!));
  await first.close();
  const seen: Seen[] = [];
  const clients: ChatClient[] = [];
  for (let who = 0; who < customers; who += 1) {
    const client = await newCustomer(stage);
    clients.push(client);
    for (let n = 0; n < messagesEach; n += 1) {
      await sleep(pauseMs);
      seen.push(await ask(client, worded(questions[(who + n) % questions.length]!)));
    }
    await client.close();
  }
  console.log(`  message to ack               ${told(seen.map(({ ack }) => ack))}`);
  console.log(`  message to reply_start       ${told(seen.map(({ start }) => start))}`);
  console.log(`  message to first reply_chunk ${told(seen.map(({ text }) => text))}`);
  console.log(`  message to reply_end         ${told(seen.map(({ end }) => end))}`);
  return { seen, clients };
}

export const p50 = (list: readonly number[]): number => quantile(list, 0.5);

/**
 * Measures the time that the embedding models add to the first frame: the same questions with and without them. Each
 * message is used once, because vectors of recent messages are cached.
 */
async function byMeaning(): Promise<string[]> {
  const first: number[] = [];
  for (const EMBEDDING of ['off', 'embedded']) {
    console.log(`EMBEDDING=${EMBEDDING}, no message twice`);
    await onStage(
      async (stage) => {
        await untilIndexed(stage, EMBEDDING === 'embedded');
        let number = 0;
        const { seen } = await inTurn(stage, (question) => `No. ${(number += 1)}: ${question}`);
        first.push(p50(seen.map(({ start }) => start)));
      },
      { EMBEDDING },
      { help: true },
    );
  }
  const added = first[1]! - first[0]!;
  console.log(
    `  added to the first frame by the embedding models, p50: ${added.toFixed(1)} ms (at most ${target.reading})`,
  );
  return added <= target.reading ? [] : ['what reading adds'];
}

async function extractive(stage: Stage): Promise<string[]> {
  console.log(`Extractive, one message at a time: ${customers} customers, ${messagesEach} messages each`);
  const { seen, clients } = await inTurn(stage);
  const first = seen.map(({ start }) => start);
  console.log(`  asked for: first frame of the answer p50 under ${target.p50} ms, p99 under ${target.p99} ms`);
  const workflows = clients.map(({ convId }) => `conversation:${convId}`);
  const actions = (await actionsOf(stage, workflows)) / (clients.length * messagesEach);
  console.log(`  Temporal actions a message   ${actions.toFixed(2)} (at most ${target.actions})`);
  return [
    ...(p50(first) < target.p50 ? [] : ['p50 of the first frame']),
    ...(quantile(first, 0.99) < target.p99 ? [] : ['p99 of the first frame']),
    ...(actions <= target.actions ? [] : ['Temporal actions']),
  ];
}

/** Lets all customers write at the same moment, and again whenever all have been answered. Returns the missed goals. */
async function atOnce(stage: Stage): Promise<string[]> {
  const clients = await Promise.all(Array.from({ length: crowd }, () => newCustomer(stage)));
  const seen: Seen[] = [];
  for (let n = 0; n < crowdMessages; n += 1) {
    seen.push(
      ...(await Promise.all(clients.map((client, who) => ask(client, questions[(who + n) % questions.length]!)))),
    );
  }
  console.log(`${crowd} customers at the same moment, ${crowdMessages} times`);
  console.log(`  message to reply_start       ${told(seen.map(({ start }) => start))}`);
  console.log(`  message to reply_end         ${told(seen.map(({ end }) => end))}`);
  const faults = (await Promise.all(clients.map((client) => faultsOf(stage, client)))).flat();
  const frames = clients.reduce((sum, client) => sum + client.frames.length, 0);
  console.log(`  ${frames} frames: ${faults.length} lost, doubled, out of order or not as stored (to reach: 0)`);
  for (const fault of faults) console.log(`    ${fault}`);
  for (const client of clients) await client.close();
  return faults.length === 0 ? [] : ['frames'];
}

/**
 * Finds faults in the frames that a customer received: wrong order or numbers, and differences from what the server has
 * stored.
 */
async function faultsOf({ url }: Stage, client: ChatClient): Promise<string[]> {
  const faults = [...client.faults];
  const acked = client.all('ack').map(({ message_id: id }) => id);
  const ended = client.all('reply_end');
  for (const [what, list] of [
    ['ack', acked],
    ['reply_end', ended.map(({ message_id: id }) => id)],
  ] as const) {
    if (list.length !== crowdMessages || new Set(list).size !== list.length) faults.push(`${list.length} × ${what}`);
  }
  for (const { message_id: id, body } of ended) {
    const pieces = client.all('reply_chunk').filter(({ message_id }) => message_id === id);
    if (pieces.map((piece) => piece.body).join('') !== body) faults.push(`the pieces of ${id} are not its text`);
  }
  const { body } = await apiAt(url).request('GET', `/support/chat/conversation/${client.orgId}/${client.convId}`, {
    token: client.credentials['sessionToken'],
  });
  const stored = (body.messages as { id: string; body: string }[]).map((message) => [message.id, message.body]);
  const shown = [...client.shown.values()].map((message) => [message.id, message.body]);
  if (JSON.stringify(stored) !== JSON.stringify(shown))
    faults.push(`${client.convId}: what is shown is not what is stored`);
  return faults;
}

/** Compares the memory of an idle socket in this system and in a bare server. */
async function idleSockets(stage: Stage, api: Watched): Promise<string[]> {
  const bare = watched('bench/peers/ws.ts');
  const peer = await startProcess('bench/peers/ws.ts', { DATA_DIR: stage.dataDir, ...bare.settings });
  try {
    const client = apiAt(stage.url);
    const urls = await chatUrls(stage, client, sockets);
    const peerUrl = peer.url.replace(/^http/u, 'ws');
    const theirs = await perSocket(
      bare,
      urls.map(() => peerUrl),
      1,
    );
    const ours = await perSocket(api, urls, 2);
    console.log(`${sockets} idle sockets, bytes a socket:`);
    const share = (of: (memory: Alive) => number): number => of(ours) / of(theirs);
    const alive = (memory: Alive): number => memory.heap + memory.external;
    const line = (memory: Alive): string =>
      `alive after a collection ${alive(memory).toFixed(0)}, resident ${memory.resident.toFixed(0)}`;
    console.log(`  bare ws: ${line(theirs)}`);
    console.log(`  ours:    ${line(ours)}`);
    console.log(
      `  share:   alive ${share(alive).toFixed(2)}, resident ${share((one) => one.resident).toFixed(2)} (at most ${target.memory})`,
    );
    return share(alive) <= target.memory ? [] : ['memory of a socket'];
  } finally {
    await peer.stop();
  }
}

/** Creates this many customers with a session each, and returns their socket URLs. */
async function chatUrls(stage: Stage, api: Api, count: number): Promise<string[]> {
  const urls: string[] = [];
  await inLanes(Array.from({ length: count }), lanes, async () => {
    const { token } = await api.newSession({ orgId: stage.orgId, owner: undefined as never }, { key: stage.key });
    urls.push(chatUrl(stage.url, stage.orgId, { sessionToken: token }));
  });
  return urls;
}

/**
 * Memory per open socket. Before the measurement, the same number of sockets connects and disconnects, a few at a time.
 * So the code and the garbage of connecting are in memory already, and only the open sockets take additional memory.
 */
async function perSocket(server: Watched, urls: readonly string[], frames: number): Promise<Alive> {
  await inLanes(urls, lanes, async (url) => closed(await opened(url, frames)));
  const before = await settled(server);
  const open: WebSocket[] = [];
  await inLanes(urls, lanes, async (url) => void open.push(await opened(url, frames)));
  const after = await settled(server);
  await Promise.all(open.map(closed));
  const each = (of: (memory: Alive) => number): number => (of(after) - of(before)) / open.length;
  return {
    heap: each((one) => one.heap),
    external: each((one) => one.external),
    resident: each((one) => one.resident),
  };
}

/** Resolves with a socket once it has received this many frames. */
async function opened(url: string, frames: number): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  let left = frames;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on('message', () => (left -= 1) === 0 && resolve());
  socket.on('close', (code) => reject(new Error(`a socket was closed: ${code}`)));
  await promise;
  return socket;
}

async function closed(socket: WebSocket): Promise<void> {
  socket.close();
  await once(socket, 'close');
}

/** Waits until short-lived caches have expired and two garbage collections have run. */
async function settled(server: Watched): Promise<Alive> {
  await sleep(3_000);
  await server.alive();
  return server.alive();
}

/**
 * How long the model's own answers to a message take, in ms. The recorded requests are sent to the model again, without
 * the chat.
 */
async function timeOfModel({ baseUrl, requests }: OpenAiServer): Promise<number> {
  const [rewrites, answers] = [false, true].map((stream) => requests.filter(({ body }) => !!body.stream === stream));
  const taken: number[] = [];
  for (const list of [rewrites!.slice(-200), answers!.slice(-200)]) {
    const each: number[] = [];
    for (const { path, body } of list) {
      const began = performance.now();
      const headers = { 'content-type': 'application/json', authorization: 'Bearer none' };
      const response = await fetch(new URL(path, baseUrl), { method: 'POST', headers, body: JSON.stringify(body) });
      // An answer is streamed, and its first words count.
      if (body.stream) await response.body!.getReader().read();
      else await response.text();
      each.push(performance.now() - began);
    }
    taken.push(p50(each));
  }
  return taken.reduce((sum, ms) => sum + ms, 0);
}

/**
 * Measures the chat with a fake language model, which answers every request instantly, also those to rewrite a
 * follow-up question.
 */
async function withModel(): Promise<string[]> {
  const model = await startOpenAiServer();
  model.reply = ({ messages }) => {
    const read = messages.map(({ content }) => content).join('\n');
    const question = questions.toSorted((a, b) => read.lastIndexOf(b) - read.lastIndexOf(a))[0];
    // One reply serves both requests, rewriting and answering, because each reads only its own fields.
    return JSON.stringify({ question, answered: true, sources: [1], answer: 'As the source says.' });
  };
  const settings = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'instant' };
  try {
    let seen: Seen[] = [];
    await onStage(
      async (stage) => {
        await untilIndexed(stage);
        console.log(
          `A model that answers instantly, one message at a time: ${customers} customers, ${messagesEach} messages each`,
        );
        ({ seen } = await inTurn(stage));
      },
      settings,
      { help: true },
    );
    const alone = await timeOfModel(model);
    const added = p50(seen.map(({ text }) => text)) - alone;
    console.log(`  the model alone, p50 ${alone.toFixed(1)} ms; added ${added.toFixed(1)} ms (under ${target.added})`);
    return added < target.added ? [] : ['what is added to a model'];
  } finally {
    await model.close();
  }
}

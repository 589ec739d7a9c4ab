/**
 * The embedding models as a service over HTTP, for server processes on other machines (`EMBEDDING`, remote.ts). It runs
 * one process for questions and one for passages. Without a service, every server process starts these two processes
 * itself. The service has no login, so it must run in a private network; it returns nothing but numbers.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';
import { z } from 'zod';
import { createEmbedder, passagesNiceness, TextRefused } from './embedder.ts';
import { maxTexts, vectorRequest, type Pool } from './remote.ts';
import { maxCharacters } from './vectors.ts';

type ServiceOptions = {
  /** The folder that contains the models. */
  folder: string;
  host: string;
  port: number;
  /** Maximum number of texts that may wait in each queue; a call that would exceed it is answered with 503. */
  room?: Readonly<Record<Pool, number>>;
};

/**
 * The default of `room`. A question takes 5 to 40 ms, so the last of 200 questions waits some seconds. Nobody waits for
 * passages.
 */
const defaultRoom = { questions: 200, passages: 2_000 };
/** A process that takes longer than this for one text, in ms, counts as hanging and is killed. */
const hungMs = { questions: 5_000, passages: 60_000 };
/** Maximum size of a call's body, in bytes. Only `maxCharacters` of each text are used, with at most 4 bytes each. */
const maxBodyBytes = maxTexts * maxCharacters * 4;

export type EmbeddingService = { url: string; close(): Promise<void> };

export async function startEmbeddingService(options: ServiceOptions): Promise<EmbeddingService> {
  const { folder, room = defaultRoom } = options;
  const embedders = {
    questions: createEmbedder({ folder, threads: true, timeoutMs: hungMs.questions }),
    passages: createEmbedder({
      folder,
      niceness: passagesNiceness,
      timeoutMs: hungMs.passages,
      startMs: 2 * hungMs.passages,
    }),
  };
  const waiting: Record<Pool, number> = { questions: 0, passages: 0 };

  async function answer(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const refuse = (status: number, sentence: string, headers = {}): void =>
      void reply.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(sentence);
    if (incoming.method === 'GET' && incoming.url === '/health') return refuse(200, 'ready');
    if (incoming.method !== 'POST' || incoming.url !== '/v1/vectors') return refuse(404, 'POST /v1/vectors');
    if (Number(incoming.headers['content-length'] ?? Infinity) > maxBodyBytes)
      return refuse(413, `A call has at most ${maxTexts} texts.`);
    const parsed = vectorRequest.safeParse(
      await bodyOf(incoming)
        .then(JSON.parse)
        .catch(() => undefined),
    );
    if (!parsed.success) return refuse(400, z.prettifyError(parsed.error));
    const { pool, texts, models, patient, deadline_ms } = parsed.data;
    if (waiting[pool] + texts.length > room[pool])
      return refuse(503, `${waiting[pool]} ${pool} wait; ask another host, or again in a second.`, {
        'retry-after': '1',
      });
    waiting[pool] += texts.length;
    // When the caller has disconnected, its waiting texts are no longer computed.
    const gone = new AbortController();
    reply.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(deadline_ms)]);
    try {
      const vectors = await embedders[pool].embed(texts, { models, patient, signal });
      reply.writeHead(200, { 'content-type': 'application/octet-stream' });
      reply.end(
        Buffer.concat(vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))),
      );
    } catch (error) {
      if (!gone.signal.aborted) refuse(error instanceof TextRefused ? 422 : 500, (error as Error).message);
    } finally {
      waiting[pool] -= texts.length;
    }
  }

  const server = createServer((incoming, reply) => void answer(incoming, reply));
  server.listen(options.port, options.host);
  await once(server, 'listening');
  // This call makes the process load the models, which takes half a second. The first question then need not wait for
  // that.
  await embedders.questions.embed([{ kind: 'question', text: '' }]);
  return {
    url: `http://${options.host}:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(Object.values(embedders).map((one) => one.close()));
    },
  };
}

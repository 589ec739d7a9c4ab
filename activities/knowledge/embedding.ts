/**
 * Embeds the passages that have no embedding yet. Idempotent: a passage with an embedding is not embedded again. A
 * source is read again after its embeddings were written, because it may have been deleted, replaced or tagged
 * meanwhile.
 */
import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import { syncTags } from './source.ts';
import type { AgentDeps } from '../../agent/knowledge/deps.ts';
import { askWaiting } from '../../agent/knowledge/waiting.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { BackgroundOptions } from '../../clients/embedding/vectors.ts';
import type { Search, VectorRow } from '../../clients/knowledge/search/search.ts';
import { listChunks, saveSentences, type Chunk } from '../../models/knowledge/chunk.ts';
import {
  isIncomplete,
  lacksVectors,
  listLacking,
  markEmbedded,
  type Lacking,
} from '../../models/knowledge/embedding.ts';
import { findSource, type Owner } from '../../models/knowledge/source.ts';
import { isPage } from '../../models/rules/knowledge/authority.ts';
import { comparedTexts, packVectors } from '../../models/rules/knowledge/compared.ts';
import { languageOf } from '../../models/rules/language/language.ts';

/** The number of texts in one request. The local models need some seconds for them. */
const textsARequest = 32;
/**
 * Embeddings are written once `rowsAWrite` of them are collected or `writeAfterMs` has passed. They are collected
 * because each write creates a file that queries have to open.
 */
const rowsAWrite = 500;
const writeAfterMs = 15_000;
/** The number of sources that are loaded together. */
const sourcesAtOnce = 100;
/**
 * An activity ends after about this long, and the workflow starts the next one. So the workflow shows progress, and a
 * new worker soon gets part of the work.
 */
const runMs = 30_000;
/**
 * After this many failures in a row, the cause is assumed to be shared (the process or the endpoint), and the activity
 * fails.
 */
const failuresInARow = 3;

/** The part of `Embedding` that embeds passages. */
export type Embeds = Pick<Embedding, 'model' | 'passages' | 'local'>;
export type EmbeddingDeps = AgentDeps & { search: Search; log: Logger };
export type EmbeddingActivities = ReturnType<typeof createEmbeddingActivities>;

export function createEmbeddingActivities(deps: EmbeddingDeps) {
  return {
    /**
     * Embeds passages for about `runMs`. `left`: whether there may be more to embed now; pages that wait for the end of
     * their crawl do not count. Throws at once when embeddings are unavailable. A source that fails because of its own
     * texts does not block others; its failure is thrown at the end.
     */
    async embedSome({ orgId, mode }: { orgId: string; mode: Owner['mode'] }): Promise<{ left: boolean }> {
      const { model } = deps.embedding;
      if (model === undefined) return { left: false };
      const owner = { org_id: orgId, mode };
      const left = await embedFor(deps, owner, model, cancellationSignal());
      if (!left && !(await lacksVectors(owner, model))) await dropFormer(deps, owner, model);
      if (!left && !(await isIncomplete(owner, model))) await askWaiting(deps, owner);
      return { left };
    },
  };
}

/** A passage without an embedding. */
type Item = { source: Lacking; chunk: Chunk };

async function embedFor(deps: EmbeddingDeps, owner: Owner, model: string, signal: AbortSignal): Promise<boolean> {
  const { search, clock } = deps;
  const until = clock().getTime() + runMs;
  const failures: Failures = { reasons: new Map(), inARow: 0 };
  for (;;) {
    const without = [...failures.reasons.keys()];
    const sources = await listLacking(owner, model, { limit: sourcesAtOnce, without, now: clock() });
    if (sources.length === 0) break;
    const having = await search.chunksWithVectors(
      { ...owner, model },
      sources.map(({ _id }) => _id),
    );
    const written = createWriter(deps, owner, model);
    for await (const items of inRequests(sources, having, written.begin)) {
      signal.throwIfAborted();
      for (const [source, vectors] of await vectorsOf(deps, items, failures, signal))
        await written.add(source, vectors);
      if (clock().getTime() >= until) break;
    }
    await written.flush();
    if (clock().getTime() >= until) return true;
  }
  const { size } = failures.reasons;
  const [reason] = failures.reasons.values();
  if (size > 0) throw new Error(`${size} sources could not be embedded, see the log; the first: ${String(reason)}`);
  return false;
}

/**
 * The passages without embeddings, grouped into requests. `begin` gets the number of passages of each source, and
 * whether the source has some embeddings already.
 */
async function* inRequests(
  sources: readonly Lacking[],
  having: ReadonlySet<string>,
  begin: (source: Lacking, passages: number, goesOn: boolean) => void,
): AsyncGenerator<Item[]> {
  let items: Item[] = [];
  for (const source of sources) {
    const chunks = await listChunks(source.org_id, source._id, source.live_generation);
    const missing = chunks.filter(({ _id }) => !having.has(_id));
    begin(source, missing.length, missing.length < chunks.length);
    for (const chunk of missing) {
      items.push({ source, chunk });
      if (items.length < textsARequest) continue;
      yield items;
      items = [];
    }
  }
  if (items.length > 0) yield items;
}

type Embedded = { chunk: Chunk; vector: Float32Array }[];

/** The sources that could not be embedded, and how many of them failed in a row. */
type Failures = { reasons: Map<string, unknown>; inARow: number };

/** The embeddings of passages, by source. If a request fails, each source is tried separately. */
async function vectorsOf(
  deps: EmbeddingDeps,
  items: readonly Item[],
  failures: Failures,
  signal: AbortSignal,
): Promise<[Lacking, Embedded][]> {
  const wanted = items.filter(({ source }) => !failures.reasons.has(source._id));
  const bySource = [...Map.groupBy(wanted, ({ source }) => source)];
  if (bySource.length > 1) {
    try {
      return await embedTogether(deps, wanted, signal);
    } catch {
      signal.throwIfAborted();
    }
  }
  const made: [Lacking, Embedded][] = [];
  for (const [{ _id: source_id, org_id, mode }, some] of bySource) {
    try {
      made.push(...(await embedTogether(deps, some, signal)));
      failures.inARow = 0;
    } catch (error) {
      signal.throwIfAborted();
      failures.reasons.set(source_id, error);
      failures.inARow += 1;
      deps.log.warn({ org_id, mode, source_id, reason: String(error) }, 'a source was not embedded; it is tried again');
      if (failures.inARow >= failuresInARow) throw error;
    }
  }
  return made;
}

async function embedTogether(
  { embedding }: EmbeddingDeps,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<[Lacking, Embedded][]> {
  const patient = items.every(({ source }) => isPage(source._id));
  const made = await embedChunks(
    embedding,
    items.map(({ chunk }) => chunk),
    { signal, patient },
  );
  const bySource = items.map(({ source }, at) => ({ source, ...made[at]! }));
  return [...Map.groupBy(bySource, ({ source }) => source)];
}

/** The vectors of chunks. The vectors of their sentences are stored with the chunks, if a local model can make them. */
async function embedChunks(embedding: Embeds, chunks: readonly Chunk[], options: BackgroundOptions): Promise<Embedded> {
  const vectors = await embedding.passages(
    chunks.map(({ heading, text }) => ({ heading, text })),
    options,
  );
  if (embedding.local !== undefined) {
    const texts = chunks.map(({ text }) => comparedTexts(text));
    const sentences = await embedding.local.storedSentences(texts.flat(), options);
    let from = 0;
    await saveSentences(
      chunks.map(({ _id, org_id }, at) => ({
        _id,
        org_id,
        packed: packVectors(sentences.slice(from, (from += texts[at]!.length))),
      })),
    );
  }
  return chunks.map((chunk, at) => ({ chunk, vector: vectors[at]! }));
}

const rowOf = (
  { segments, authority }: Pick<Lacking, 'segments' | 'authority'>,
  { chunk, vector }: Embedded[number],
) => {
  const { _id: id, source_id, generation, text } = chunk;
  return { id, source_id, generation, segments, authority, language: languageOf(text), vector } satisfies VectorRow;
};

/** Embeds a source that is not published yet. Its chunks are stored already. */
export async function embedSource(
  { search, embedding }: { search: Search; embedding: Embeds },
  source: Owner & Pick<Lacking, 'segments' | 'authority'>,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<void> {
  const { model } = embedding;
  if (model === undefined) throw new Error('No embedding model is configured.');
  const made = await embedChunks(embedding, chunks, { signal });
  await search.addVectors(
    { org_id: source.org_id, mode: source.mode, model },
    made.map((one) => rowOf(source, one)),
  );
}

/** Collects embeddings and writes many at once. A source counts as embedded when its last passage is written. */
function createWriter({ search, clock }: EmbeddingDeps, owner: Owner, model: string) {
  const table = { ...owner, model };
  /** The number of passages of each source that are not written yet. */
  const open = new Map<Lacking, number>();
  /**
   * Sources of which an earlier attempt has written some embeddings. Those may have outdated tags, because the attempt
   * may have died before it compared them with the source.
   */
  const resumed = new Set<Lacking>();
  let rows: VectorRow[] = [];
  let written = new Set<Lacking>();
  let since = clock().getTime();

  async function flush(): Promise<void> {
    await search.addVectors(table, rows);
    const counts = Map.groupBy(rows, ({ source_id }) => source_id);
    const touched = [...written, ...[...open].flatMap(([source, left]) => (left === 0 ? [source] : []))];
    rows = [];
    written = new Set();
    since = clock().getTime();
    for (const source of new Set(touched)) {
      const left = (open.get(source) ?? 0) - (counts.get(source._id)?.length ?? 0);
      open.set(source, left);
      await settle(source, left === 0);
      if (left === 0) open.delete(source);
    }
  }

  /**
   * Checks the source again after its embeddings were written: applies changed tags, and removes embeddings of a
   * deleted or replaced source.
   */
  async function settle(source: Lacking, complete: boolean): Promise<void> {
    const { _id, org_id, live_generation, tags_version } = source;
    const now = await findSource(org_id, _id);
    if (now === null) return search.removeSource(owner, _id);
    if (now.live_generation === live_generation) {
      const known = resumed.delete(source) ? -1 : tags_version;
      if (now.tags_version !== known) await syncTags(search, { orgId: org_id, sourceId: _id }, known);
      if (!complete || (await markEmbedded(source, model, clock()))) return undefined;
    }
    return search.removeBatch(table, _id, String(live_generation));
  }

  return {
    begin(source: Lacking, passages: number, goesOn: boolean): void {
      open.set(source, passages);
      if (goesOn) resumed.add(source);
    },
    async add(source: Lacking, vectors: Embedded): Promise<void> {
      written.add(source);
      rows.push(...vectors.map((one) => rowOf(source, one)));
      if (rows.length >= rowsAWrite || clock().getTime() - since >= writeAfterMs) await flush();
    },
    flush,
  };
}

/** Drops the embeddings of former models, after the current model has embedded everything. */
async function dropFormer({ search, log }: EmbeddingDeps, owner: Owner, model: string): Promise<void> {
  for (const table of await search.vectorTables(owner)) {
    if (search.isSameTable(table, { ...owner, model })) continue;
    log.info(table, 'the vectors of a former embedding model are dropped');
    await search.dropTable(table);
  }
}

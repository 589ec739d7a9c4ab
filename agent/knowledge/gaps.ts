/**
 * Questions without an answer, for the people who maintain the documents. While documents are read, or passages
 * lack the vectors that may answer a question, it waits, and is asked again when they are there.
 */
import type { AgentDeps } from './deps.ts';
import { findKnowledge, retrieveDeps, type Found, type Question } from './find.ts';
import { retrieve, type Retrieval } from './retrieve.ts';
import { vectorsName } from '../../clients/embedding/vectors.ts';
import { hasEmbeddedSince, isIncomplete, wakeEmbedding, type Owner } from '../../models/knowledge/embedding.ts';
import {
  findGroup,
  listWaitingGaps,
  recordGap,
  settleGap,
  type Asked,
  type QuestionVector,
} from '../../models/knowledge/gap.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { gapGroup, gapReason } from '../../models/rules/knowledge/gap.ts';
import type { Passage } from '../../models/rules/knowledge/retrieval.ts';

/** The number of passages shown with a gap. */
const maxNear = 3;
/** A question is searched for within this time. */
const searchingMs = 10_000;
/** The questions that are read together, to be asked again. */
const askedTogether = 50;

/**
 * Records a question without an answer, for the people who maintain the documents. `record`: stores it; by default the
 * question only.
 */
export async function noteGap(
  deps: AgentDeps,
  { orgId, mode, query }: Pick<Question, 'orgId' | 'mode' | 'query'>,
  { searched, askings, asked, retrieval }: Found,
  record: (orgId: string, mode: Mode, asked: Asked) => Promise<unknown> = recordGap,
): Promise<void> {
  const open = { question: searched, askings, asked: undefined, strict: false };
  const again = { ...retrieveDeps(deps, orgId, mode), embed: async (text: string) => retrieval.meanings.get(text) };
  const anywhere = asked !== undefined && (await retrieve(again, open)).hits.length > 0;
  const stems = retrieval.terms.map((t) => t.stem);
  const meaning = await meaningOfGap(deps, searched);
  const known = meaning && (await findGroup(orgId, mode, meaning));
  const waits = await mayBeAnswered(deps, { org_id: orgId, mode });
  const question = {
    question: query,
    group: known ?? gapGroup(stems, query),
    why: gapReason(retrieval.judged.length, anywhere),
    near: nearestIn(retrieval),
    meaning,
    now: deps.clock(),
    ...(waits && { waiting: defined({ segments: asked }) }),
  };
  await record(orgId, mode, question);
  // Vectors that came while the question was searched for were not awaited by anybody.
  if (waits) await wakeEmbedding({ org_id: orgId, mode }, deps.clock());
}

/** Whether an answer may come by itself, or has come since the question was searched for. */
async function mayBeAnswered({ embedding: { model }, clock }: AgentDeps, owner: Owner): Promise<boolean> {
  if (model === undefined) return false;
  return (await isIncomplete(owner, model)) || hasEmbeddedSince(owner, new Date(clock().getTime() - searchingMs));
}

/** The question's embedding, by which gaps are grouped; undefined without an embedding model. */
async function meaningOfGap(
  { embedding }: Pick<AgentDeps, 'embedding'>,
  question: string,
): Promise<QuestionVector | undefined> {
  try {
    const [vector] = (await embedding.local?.sentences([question])) ?? [];
    return vector && { model: vectorsName, vector };
  } catch {
    return undefined;
  }
}

/** The passages nearest to a question without an answer, for the people who maintain the documents. */
const nearestIn = ({ judged }: Retrieval<Passage>) =>
  judged
    .toSorted((a, b) => b.relevance - a.relevance)
    .slice(0, maxNear)
    .map(({ passage, relevance }) => ({ chunk_id: passage.id, score: Math.round(relevance * 1000) / 1000 }));

/** Asks again what was asked while documents were read or passages lacked vectors. */
export async function askWaiting(deps: AgentDeps, { org_id: orgId, mode }: Owner): Promise<void> {
  for (;;) {
    const waiting = await listWaitingGaps(orgId, mode, askedTogether);
    for (const {
      _id,
      question: body,
      waiting: { segments = [] },
    } of waiting) {
      const read = await deps.intelligence.read({ body, history: [] });
      const { retrieval } = await findKnowledge(deps, { orgId, mode, segments, body }, read);
      await settleGap(_id, retrieval.confidence !== 'none');
    }
    if (waiting.length < askedTogether) return;
  }
}

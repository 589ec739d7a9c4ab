/**
 * Records questions without an answer (gaps), for the people who maintain the documents. While documents are still
 * being read, or passages lack vectors, the question waits and is asked again later (`waiting.ts`).
 */
import type { AgentDeps } from './deps.ts';
import { retrieveDeps, type Found, type Question } from './find.ts';
import { retrieve, type Retrieval } from './retrieve.ts';
import { vectorsName } from '../../clients/embedding/vectors.ts';
import { isIncomplete, wakeEmbedding } from '../../models/knowledge/embedding.ts';
import { findGroup, newGroup, recordGap, type Asked, type QuestionVector } from '../../models/knowledge/gap.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { gapReason } from '../../models/rules/knowledge/gap.ts';
import type { Passage } from '../../models/rules/knowledge/retrieval.ts';

/** The number of passages shown with a gap. */
const maxNear = 3;

/** `record`: stores the question; the default stores it without an asker. */
export async function noteGap(
  deps: AgentDeps,
  { orgId, mode, query }: Pick<Question, 'orgId' | 'mode' | 'query'>,
  { searched, askings, context, asked, strict, retrieval }: Found,
  record: (orgId: string, mode: Mode, asked: Asked) => Promise<unknown> = recordGap,
): Promise<void> {
  const same = { question: searched, askings, context, asked, strict };
  const open = { question: searched, askings, asked: undefined, strict: false };
  const finding = retrieveDeps(deps, orgId, mode);
  const again = { ...finding, ...(finding.embed && { embed: async (text: string) => retrieval.meanings.get(text) }) };
  const { model } = deps.embedding;
  const waits = model !== undefined && (await isIncomplete({ org_id: orgId, mode }, model));
  // A document that was indexed while the question was searched for may answer it. Then the question is no gap.
  if (model !== undefined && !waits && isBetter(await retrieve(finding, same), retrieval)) return;
  const anywhere = asked !== undefined && (await retrieve(again, open)).hits.length > 0;
  const stems = retrieval.terms.map((t) => t.stem);
  const meaning = await meaningOfGap(deps, searched);
  const known = meaning && (await findGroup(orgId, mode, meaning));
  const question = {
    question: query,
    group: known ?? newGroup(stems, query),
    why: gapReason(retrieval.judged.length, anywhere),
    near: nearestIn(retrieval),
    meaning,
    now: deps.clock(),
    ...(waits && { waiting: defined({ segments: asked }) }),
  };
  await record(orgId, mode, question);
  // The missing vectors may have been stored while the question was recorded. So the embedding workflow is started,
  // which asks the question again.
  if (waits) await wakeEmbedding({ org_id: orgId, mode }, deps.clock());
}

/** Whether this search has another best passage than the search before, and that passage answers or may help. */
const isBetter = ({ confidence, judged }: Retrieval<Passage>, before: Retrieval<Passage>): boolean =>
  confidence !== 'none' && judged[0]?.passage.id !== before.judged[0]?.passage.id;

/** The question's embedding, by which gaps are grouped; undefined when no local model can make it. */
async function meaningOfGap(
  { embedding }: Pick<AgentDeps, 'embedding'>,
  question: string,
): Promise<QuestionVector | undefined> {
  try {
    const vector = await embedding.local?.asked(question);
    return vector && { model: vectorsName, vector };
  } catch {
    return undefined;
  }
}

const nearestIn = ({ judged }: Retrieval<Passage>) =>
  judged
    .toSorted((a, b) => b.relevance - a.relevance)
    .slice(0, maxNear)
    .map(({ passage, relevance }) => ({ chunk_id: passage.id, score: Math.round(relevance * 1000) / 1000 }));

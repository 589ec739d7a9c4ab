/** Asks questions without an answer again, once the documents or vectors that they waited for are available. */
import { answerQuestion } from './answer.ts';
import type { AgentDeps } from './deps.ts';
import type { Owner } from '../../models/knowledge/source.ts';
import { listWaitingGaps, settleGap } from '../../models/knowledge/gap.ts';
import { segmentsAgain } from '../../models/rules/knowledge/segments.ts';

/** The number of questions that are loaded together. */
const askedTogether = 50;

/** Asks all waiting questions again. A question that has an answer is no gap, so its record is deleted. */
export async function askWaiting(deps: AgentDeps, { org_id: orgId, mode }: Owner): Promise<void> {
  for (;;) {
    const waiting = await listWaitingGaps(orgId, mode, askedTogether);
    for (const gap of waiting) {
      const { question: query } = gap;
      const segments = segmentsAgain(gap.waiting.segments);
      const { has_context } = await answerQuestion(deps, { orgId, mode, query, segments, history: [], tried: true });
      await settleGap(orgId, gap, has_context);
    }
    if (waiting.length < askedTogether) return;
  }
}

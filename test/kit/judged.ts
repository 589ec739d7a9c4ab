/** A passage that was judged relevant to the question, for tests of the answers that are written from it. */
import type { Judged } from '../../models/rules/knowledge/retrieval.ts';

export const judgedPassage = (id: string, text: string): Judged => ({
  passage: {
    id,
    source_id: `doc_${id}`,
    type: 'document',
    name: `${id}.md`,
    heading: 'Cards',
    text,
    segments: [],
    authority: 'normal',
  },
  candidate: { id, authority: 'normal' },
  coverage: 1,
  strength: 1,
  relevance: 0.9,
  relevant: true,
});

/** What answering needs, and what was said before. Types only. */
import type { Ai } from '../../clients/ai/ai.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { SearchReader } from '../../clients/knowledge/search/reader.ts';
import type { Offer } from '../../models/rules/knowledge/offers.ts';

export type AgentDeps = { search: SearchReader; ai: Ai; embedding: Embedding; clock: () => Date };

/** What was said, oldest first; an answer may have made offers. */
export type Turns = readonly { role: string; body: string; offers?: readonly Offer[] }[];

import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { SearchReader } from '../../clients/knowledge/search/reader.ts';
import type { Intelligence } from '../../intelligence/intelligence.ts';

export type AgentDeps = { search: SearchReader; intelligence: Intelligence; embedding: Embedding; clock: () => Date };

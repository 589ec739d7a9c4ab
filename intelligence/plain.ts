/** The texts whose URLs an answer may contain: the question, and the passages with their headings and URLs. */
import type { Judged } from '../models/rules/knowledge/retrieval.ts';

export const groundsOf = (question: string, hits: readonly Judged[]): string[] => [
  question,
  ...hits.flatMap(({ passage: { text, heading, url } }) => [heading, text, ...(url === undefined ? [] : [url])]),
];

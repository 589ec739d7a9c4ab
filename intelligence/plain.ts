/** What an address in an answer may come from, whoever writes the answer. */
import type { Judged } from '../models/rules/knowledge/retrieval.ts';

/** The texts that an address in an answer may come from. */
export const groundsOf = (question: string, hits: readonly Judged[]): string[] => [
  question,
  ...hits.flatMap(({ passage: { text, heading, url } }) => [heading, text, ...(url === undefined ? [] : [url])]),
];

/** The texts from which an answer may take a URL or e-mail address, for all writers of answers. */
import type { Judged } from '../models/rules/knowledge/retrieval.ts';

export const groundsOf = (question: string, hits: readonly Judged[]): string[] => [
  question,
  ...hits.flatMap(({ passage: { text, heading, url } }) => [heading, text, ...(url === undefined ? [] : [url])]),
];

/**
 * The texts from which an answer may take a URL or an e-mail address: the question and the passages. Answers of a model
 * and extractive answers use them.
 */
import type { Judged } from '../models/rules/knowledge/retrieval.ts';

export const groundsOf = (question: string, hits: readonly Judged[]): string[] => [
  question,
  ...hits.flatMap(({ passage: { text, heading, url } }) => [heading, text, ...(url === undefined ? [] : [url])]),
];

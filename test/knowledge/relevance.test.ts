/** Which questions the bank's help centre must answer and which it must not, in various wordings. */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { helpCentre, type HelpCentre } from '../kit/helpcentre.ts';

const table = JSON.parse(await readFile(new URL('../fixtures/relevance.json', import.meta.url), 'utf8')) as {
  answered: [question: string, part: string][];
  unanswered: string[];
};
const fixture = async (name: string) => readFile(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
const root = mkdtempSync(join(tmpdir(), 'relevance-'));
let bank: HelpCentre;

beforeAll(async () => {
  const [insurance, german] = await Promise.all([fixture('insurance.md'), fixture('hilfe.md')]);
  bank = await helpCentre(root, { 'insurance.md': insurance, 'hilfe.md': german });
});
afterAll(() => {
  bank.close();
  rmSync(root, { recursive: true, force: true });
});

describe('the help centre', () => {
  it.each(table.answered)('the help centre answers %j with %j', async (question, part) => {
    expect((await bank.ask(question)).answer?.text).toContain(part);
  });

  it.each(table.unanswered)('the help centre has no answer to %j', async (question) => {
    const { retrieval } = await bank.ask(question);
    expect(retrieval.hits.map(({ passage }) => `${passage.name}: ${passage.heading}`)).toEqual([]);
  });
});

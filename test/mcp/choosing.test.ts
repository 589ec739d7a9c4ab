/**
 * Choosing a tool for a message without a language model, by embeddings and by words alone.
 * The organizations in test/fixtures/tools.json were not used to develop the thresholds.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentDeps } from '../../agent/knowledge/deps.ts';
import type { Toolbox } from '../../intelligence/intelligence.ts';
import { chooseByRules } from '../../intelligence/offline/mcp/choose.ts';
import { meantBy, sentencesBy, type ToolSet } from '../../bench/calibrate/tools.ts';
import { createEmbedder, type Embedder } from '../../clients/embedding/embedder.ts';

const sets = JSON.parse(readFileSync('test/fixtures/tools.json', 'utf8')) as ToolSet;
let embedder: Embedder;
beforeAll(() => {
  embedder = createEmbedder({ folder: process.env['TEST_EMBEDDING']! });
});
afterAll(() => embedder.close());

type Sentences = (texts: readonly string[]) => Promise<Float32Array[]>;
/**
 * What the agent does with a message: the name of the tool that it calls, `?` when it asks for an argument, or null for
 * neither.
 */
async function chosen(tools: object[], message: string, sentences: Sentences | undefined): Promise<string | null> {
  const deps = { embedding: { local: sentences && { sentences } } } as unknown as AgentDeps;
  const toolbox = { offered: tools, email: undefined, made: [] } as unknown as Toolbox;
  const choice = await chooseByRules(deps, { body: message, request: [] }, toolbox);
  if (!choice) return null;
  return 'call' in choice ? choice.call.tool.tool_name : '?';
}

/**
 * `meant`: messages for which a call or a question for an argument is right. `wrong`: calls of a tool that
 * the message does not mean, or calls where none is needed.
 */
async function judged(sentences: Sentences | undefined) {
  const found = { meant: 0, right: 0, wrong: 0, others: 0, asked: 0 };
  const failures: string[] = [];
  for (const { tools, messages } of Object.values(sets))
    for (const [message, expected] of messages) {
      const said = await chosen(tools, message, sentences);
      const meant = meantBy(expected);
      const right =
        said === null ? meant.length === 0 : meant.some((one) => (said === '?' ? one.startsWith('?') : one === said));
      if (meant.length === 0) found.others += 1;
      else found.meant += 1;
      if (right && meant.length > 0) found.right += 1;
      if (!right && said === '?') found.asked += 1;
      if (!right && said !== null && said !== '?') found.wrong += 1;
      if (!right) failures.push(`${message}: ${said}, not ${expected}`);
    }
  return { ...found, failures };
}

describe('choosing a tool', () => {
  // 36 messages mean a tool and 42 mean none; docs/mcp.md has the measurements.
  it('with embeddings, at least 27 of 36 messages get the right tool, and at most one message gets a wrong tool', async () => {
    const { meant, right, wrong, others, asked, failures } = await judged(sentencesBy(embedder));
    expect([meant, others]).toEqual([36, 42]);
    const told = failures.join(' | ');
    expect([wrong <= 1, asked <= 1, right >= 27, told]).toEqual([true, true, true, told]);
  });

  it('by words alone, at least 30 of 36 messages get the right tool, and no message gets a wrong tool', async () => {
    const { right, wrong, asked, failures } = await judged(undefined);
    const told = failures.join(' | ');
    expect([wrong, asked <= 1, right >= 30, told]).toEqual([0, true, true, told]);
  });

  it('choosing a tool falls back to words when embeddings are unavailable', async () => {
    const [{ tools, messages }] = Object.values(sets) as [ToolSet[string]];
    const away: Sentences = () => Promise.reject(new Error('There is no process.'));
    for (const [message] of messages.slice(0, 5))
      expect(await chosen(tools, message, away)).toBe(await chosen(tools, message, undefined));
  });
});

describe('a question for a missing argument', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const about = {
    tool_name: 'branch_hours',
    description: 'Opening hours of the branch in a city.',
    input_schema: schema,
  };
  const answeredWith = (risk_tier: string, body: string) => {
    const deps = { embedding: { local: undefined } } as unknown as AgentDeps;
    const toolbox = { offered: [{ ...about, risk_tier }], email: undefined, made: [] } as unknown as Toolbox;
    const request = ['What are the opening hours of the branch in the city?'];
    return chooseByRules(deps, { body, request }, toolbox);
  };

  it.each(['read_public', 'customer_confirm'])(
    'the customer’s reply to a question for a missing argument becomes the argument of a tool of tier %s',
    async (tier) =>
      expect(await answeredWith(tier, 'Hamburg')).toMatchObject({ call: { arguments: { city: 'Hamburg' } } }),
  );

  it('a customer’s reply to a question is never used as an argument of a tool that changes data without confirmation', async () =>
    expect(await answeredWith('safe_write', 'Hamburg')).toBeUndefined());
});

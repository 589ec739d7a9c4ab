/**
 * Which tool a message means, without a language model: on organizations that the numbers were not made from
 * (test/fixtures/tools.json), by the embedded model and by words alone.
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
/** What the agent does with a message: the name of the tool it calls, `?` when it asks back, null for nothing. */
async function chosen(tools: object[], message: string, sentences: Sentences | undefined): Promise<string | null> {
  const deps = { embedding: { local: sentences && { sentences } } } as unknown as AgentDeps;
  const toolbox = { offered: tools, email: undefined, made: [] } as unknown as Toolbox;
  const choice = await chooseByRules(deps, { body: message, request: [] }, toolbox);
  if (!choice) return null;
  return 'call' in choice ? choice.call.tool.tool_name : '?';
}

/** `meant`: messages for which a call or a question back is right. `wrong`: another call than was meant, or one that was not. */
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

describe('a tool is chosen', () => {
  // Of 36 messages that mean a tool and 42 that mean none; what was measured is in docs/mcp.md.
  it('by meaning: hardly ever a wrong one, and mostly the right one', async () => {
    const { meant, right, wrong, others, asked, failures } = await judged(sentencesBy(embedder));
    expect([meant, others]).toEqual([36, 42]);
    const told = failures.join(' | ');
    expect([wrong <= 1, asked <= 1, right >= 27, told]).toEqual([true, true, true, told]);
  });

  it('by words alone: never a wrong one, and mostly the right one', async () => {
    const { right, wrong, asked, failures } = await judged(undefined);
    const told = failures.join(' | ');
    expect([wrong, asked <= 1, right >= 30, told]).toEqual([0, true, true, told]);
  });

  it('by words where vectors cannot be had', async () => {
    const [{ tools, messages }] = Object.values(sets) as [ToolSet[string]];
    const away: Sentences = () => Promise.reject(new Error('There is no process.'));
    for (const [message] of messages.slice(0, 5))
      expect(await chosen(tools, message, away)).toBe(await chosen(tools, message, undefined));
  });
});

describe('a question back', () => {
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
    'is answered in the customer’s own words, for a tool of %s',
    async (tier) =>
      expect(await answeredWith(tier, 'Hamburg')).toMatchObject({ call: { arguments: { city: 'Hamburg' } } }),
  );

  it('is not answered by any words where something would be done at once', async () =>
    expect(await answeredWith('safe_write', 'Hamburg')).toBeUndefined());
});

/** Answers without a model compare the question with stored vectors of sentences; only the question is embedded. */
import { describe, expect, it } from '@jest/globals';
import { answerFromSources } from '../../../intelligence/offline/knowledge/answer.ts';
import type { AnswerAsk } from '../../../intelligence/intelligence.ts';
import { comparedTexts, packVectors } from '../../../models/rules/knowledge/compared.ts';
import type { Judged } from '../../../models/rules/knowledge/retrieval.ts';
import { judgedPassage as passage } from '../../kit/judged.ts';

const near = Float32Array.of(1, 0);
const far = Float32Array.of(0, 1);
/** The vector of a text: near to the question when it tells of the fee. */
const vectorOf = (text: string): Float32Array => (/49 EUR/u.test(text) ? near : far);

const prose = 'Order it in the app. It arrives within two days. We take 49 EUR a year. Call us when it is lost.';
const rows = 'Product: Gold; Fee: 49 EUR\nProduct: Blue; Fee: nothing';

const asking = 'Quanto devo pagare?';
const asked = (hits: Judged[], stored: readonly string[]): AnswerAsk => ({
  body: asking,
  history: [],
  language: 'en',
  found: {
    confidence: 'high',
    hits,
    offers: [],
    asking,
    degraded: false,
    sentences: async (ids) =>
      new Map(
        hits.flatMap(({ passage: { id, text } }) =>
          ids.includes(id) && stored.includes(id)
            ? [[id, packVectors(comparedTexts(text).map(vectorOf))] as const]
            : [],
        ),
      ),
  },
  mayOffer: true,
});
const offered = (ask: AnswerAsk): AnswerAsk => ({
  ...ask,
  found: { ...ask.found, confidence: 'low', hits: [], offers: ask.found.hits },
});

/** An embedding model that records which texts it embeds. */
function watched() {
  const embedded: string[] = [];
  const local = {
    asked: async () => near,
    sentences: async (texts: readonly string[]) => {
      embedded.push(...texts);
      return texts.map(vectorOf);
    },
  };
  return { embedded, deps: { embedding: { model: 'm', local } } };
}

describe('sentences compared with a question by meaning', () => {
  it('an answer quotes the sentence whose stored vector is nearest to the question, and no sentence is embedded anew', async () => {
    const { deps, embedded } = watched();
    const { text, degraded } = await answerFromSources(deps, asked([passage('gold', prose)], ['gold']));
    expect(text).toContain('49 EUR');
    expect([embedded, degraded]).toEqual([[], undefined]);
  });

  it('the first sentences of passages without stored vectors are embedded to compare them with the question', async () => {
    const { deps, embedded } = watched();
    const { text } = await answerFromSources(deps, asked([passage('gold', prose)], []));
    expect(text).toContain('49 EUR');
    expect(embedded).toEqual(comparedTexts(prose));
    const long = Array.from({ length: 30 }, (_, at) => `Fact ${at} is true.`).join(' ');
    const some = watched();
    await answerFromSources(some.deps, asked([passage('gold', prose), passage('long', long)], ['gold']));
    expect(some.embedded).toEqual(comparedTexts(long).slice(0, 8));
  });

  it('an answer is marked as degraded when its sentences could not be compared with the question by embeddings', async () => {
    const gone = async () => Promise.reject(new Error('gone'));
    const { deps } = watched();
    const failing = { embedding: { model: 'm', local: { ...deps.embedding.local, asked: gone } } };
    const { text, degraded } = await answerFromSources(failing, asked([passage('gold', prose)], ['gold']));
    expect([text !== undefined, degraded]).toEqual([true, true]);
  });

  it('an offer shows the sentence or table row of its section whose stored vector is nearest to the question', async () => {
    const { deps, embedded } = watched();
    const shown = async (id: string, text: string) => {
      const { offers } = await answerFromSources(deps, offered(asked([passage(id, text)], [id])));
      return offers?.map(({ heading, says }) => [heading, says.includes('49 EUR')]);
    };
    expect(await shown('gold', prose)).toEqual([['Cards', true]]);
    expect(await shown('fees', rows)).toEqual([['Cards – Gold', true]]);
    expect(embedded).toEqual([]);
  });
});

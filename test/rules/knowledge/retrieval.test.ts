import { describe, expect, it } from '@jest/globals';
import { authorities } from '../../../models/rules/knowledge/authority.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';
import { readByWords } from '../../../intelligence/offline/language/question.ts';
import { retrieve } from '../../../agent/knowledge/retrieve.ts';
import type { Query } from '../../../clients/knowledge/search/reader.ts';
import { partWeights, scaleOf, type Scale } from '../../../models/rules/knowledge/relevance.ts';
import {
  bestReading,
  crowdedOut,
  judge,
  selectOffers,
  selectTier,
  worthReading,
} from '../../../models/rules/knowledge/retrieval.ts';
import type { Candidate, Meaning, Passage } from '../../../models/rules/knowledge/retrieval.ts';
import { defined } from '../../../models/rules/base/defined.ts';

const question = 'What is the annual fee of the gold card?';
const strong = 'The annual fee of the gold card is 49 EUR.';
const marginal = 'The gold rush began in 1848.';
const unrelated = 'Branches open at nine.';

function passage(id: string, text: string, rest: Partial<Passage> = {}): Passage {
  return {
    id,
    source_id: `src_${id}`,
    type: 'document',
    name: 'x.md',
    heading: '',
    text,
    segments: [],
    authority: 'normal',
    embedded_by: 'm',
    ...rest,
  };
}

const candidate = (id: string, rank: number, rest: Partial<Candidate> = {}): Candidate => ({
  id,
  authority: 'normal',
  text_score: 10 / rank,
  ...rest,
});

const found = (texts: [text: string, authority: Authority, score: number][]) =>
  texts.map(([text, authority, score], index) => ({
    passage: passage(String(index), text, { authority }),
    candidate: candidate(String(index), index + 1, { authority, text_score: score }),
  }));

describe('tiers', () => {
  const strength = { strong, marginal, none: undefined };
  const kinds = Object.keys(strength) as (keyof typeof strength)[];
  const combinations = kinds.flatMap((primary) =>
    kinds.flatMap((normal) => kinds.map((background) => ({ primary, normal, background }))),
  );

  it.each(combinations)(
    'only the highest authority tier with a relevant passage answers (primary $primary, normal $normal, background $background)',
    (tiers) => {
      const texts = authorities.flatMap((tier): [string, Authority, number][] => {
        const text = strength[tiers[tier]];
        return text === undefined ? [] : [[text, tier, tiers[tier] === 'strong' ? 10 : 3]];
      });
      const { authority, hits } = selectTier(judge([question], found(texts)));
      expect(authority).toBe(authorities.find((tier) => tiers[tier] === 'strong'));
      expect(hits.map((hit) => hit.passage.text)).toEqual(authority === undefined ? [] : [strong]);
      expect(hits.every((hit) => hit.passage.authority === authority)).toBe(true);
    },
  );

  it('a longer passage of a higher authority tier answers although shorter passages of lower tiers rank before it', () => {
    const long = `${strong} ${'Further conditions apply to other products. '.repeat(10)}`;
    expect(
      selectTier(
        judge(
          [question],
          found([
            [strong, 'normal', 10],
            [strong, 'background', 10],
            [long, 'primary', 5],
          ]),
        ),
      ).authority,
    ).toBe('primary');
  });
});

describe('judge', () => {
  it('a passage without the rare word of the question is not relevant', () => {
    const judged = judge(
      ['What is the annual fee of the platinum card?'],
      found([
        ['The fee of the card', 'normal', 10],
        ['The card', 'normal', 9],
      ]),
    );
    expect(judged.map(({ relevant }) => relevant)).toEqual([false, false]);
  });

  it('each question of a message is judged separately, and introductory sentences are ignored', () => {
    const intro = 'Hello, my name is Peter Example and I have been a customer of this bank since 1998.';
    const judged = (message: string) =>
      judge(readByWords(message).askings[0].readings[0]!.questions, found([[strong, 'normal', 10]])).map(
        ({ relevant }) => relevant,
      );
    expect(judged(`${intro} ${question}`)).toEqual([true]);
    expect(judged(`${question} And does the hotel on Mars serve breakfast?`)).toEqual([true]);
    expect(judged(`My gold card has an annual fee. Does the hotel on Mars serve breakfast?`)).toEqual([false]);
  });

  it('no passage is relevant to a question without content words', () => {
    expect(judge(['How much is it?'], found([[strong, 'normal', 10]])).some(({ relevant }) => relevant)).toBe(false);
  });

  it('the relevance of a passage is between 0 and 1 and independent of the scale of the search scores', () => {
    const texts: [string, Authority, number][] = [
      [strong, 'normal', 9],
      [marginal, 'normal', 4],
      [unrelated, 'primary', 1],
    ];
    const once = judge([question], found(texts));
    const scaled = judge([question], found(texts.map(([text, tier, score]) => [text, tier, score * 1_000])));
    for (const { coverage, strength, relevance } of once)
      for (const value of [coverage, strength, relevance]) expect(value >= 0 && value <= 1).toBe(true);
    expect(scaled.map(({ relevance, relevant }) => [relevance, relevant])).toEqual(
      once.map(({ relevance, relevant }) => [relevance, relevant]),
    );
  });
});

describe('with embeddings', () => {
  // A vector has two parts of equal weight, and a passage usually has the cosine 0.1 with a question. The feature
  // `above` is how far a cosine exceeds that: cosine / 0.1 − 1.
  const scale: Scale = {
    calibration: { weights: { intercept: -4, above: 2, share: 1, foreign: 0 }, answer: 0.5, offer: 0.2 },
    weights: [5, 5],
    usual: 1,
    foreign: false,
  };
  const near = (id: string, cosine: number | undefined, rest: Partial<Passage> & { score?: number } = {}) => {
    const { score, ...more } = rest;
    const { authority = 'normal', heading = id } = more;
    return {
      passage: passage(id, unrelated, { heading, source_id: 'src', ...more }),
      candidate: {
        id,
        authority,
        ...(cosine === undefined ? {} : { cosines: [cosine, cosine] }),
        ...defined({ text_score: score }),
      },
    };
  };
  const ids = (list: readonly { passage: Passage }[]): string[] => list.map((item) => item.passage.id);

  it('the passage with the nearest vector and those nearly as near answer even without words of the question', () => {
    const judged = judge([question], [near('a', 0.3), near('b', 0.5), near('c', 0.46), near('d', 0.41)], scale);
    expect(ids(judged)).toEqual(['b', 'c', 'd', 'a']);
    expect(judged.map(({ relevant }) => relevant)).toEqual([true, true, true, false]);
    expect(ids(selectTier(judged).hits)).toEqual(['b', 'c']);
    expect(judged[0]).toMatchObject({
      relevance: 1 / (1 + Math.exp(-4)),
      features: { above: 4, share: 0, foreign: 0 },
    });
    const weak = judge([question], [near('a', 0.29)], scale);
    expect(selectTier(weak)).toEqual({ authority: undefined, hits: [] });
  });

  it('a passage nearly as likely as the answering passage is also used, although the passage would not answer alone', () => {
    const judged = judge([question], [near('a', 0.31), near('b', 0.28), near('c', 0.24), near('p', 0.2)], scale);
    expect(judged.map(({ relevant }) => relevant)).toEqual([true, false, false, false]);
    expect(ids(selectTier(judged, scale.calibration.offer).hits)).toEqual(['a', 'b']);
    // A passage below the threshold for offers, here 0.41, is not given.
    expect(ids(selectTier(judged, 0.41).hits)).toEqual(['a']);
    const title = judge([question], [near('a', 0.31), near('b', 0.29, { text: 'Card guide' })], scale);
    expect(ids(selectTier(title, 0.2).hits)).toEqual(['a']);
    // When no passage answers, no passage is given beside it.
    expect(selectTier(judge([question], [near('b', 0.28)], scale), 0.2).hits).toEqual([]);
  });

  it('words shared with the question, or a BM25 score, make a passage more relevant', () => {
    const [plain] = judge([question], [near('a', 0.3)], scale);
    const [speaking] = judge([question], [near('a', 0.3, { text: strong })], scale);
    const [scored] = judge([question], [near('a', 0.3, { score: 10 })], scale);
    expect(speaking!.relevance).toBeGreaterThan(plain!.relevance);
    expect(scored!.relevance).toBeGreaterThan(plain!.relevance);
  });

  it('a passage of a higher authority tier answers before a slightly better passage of a lower tier', () => {
    const tier = (cosine: number) =>
      selectTier(judge([question], [near('n', 0.6), near('p', cosine, { authority: 'primary' })], scale));
    expect(ids(tier(0.51).hits)).toEqual(['p']);
    expect(ids(tier(0.49).hits)).toEqual(['n']);
  });

  it('a passage without a vector is judged by its words', () => {
    const judged = judge([question], [near('old', 0.2), near('new', undefined, { text: strong, score: 9 })], scale);
    expect(judged.map(({ passage: { id }, relevant, features }) => [id, relevant, features === undefined])).toEqual([
      ['new', true, true],
      ['old', false, false],
    ]);
  });

  it('passages under at most three headings are offered, best first, and none when even the best is too unlikely', () => {
    const list = [
      near('a', 0.25, { heading: 'A' }),
      near('a2', 0.24, { heading: 'A' }),
      near('b', 0.2),
      near('c', 0.1),
      near('d', 0),
    ];
    const judged = judge([question], [...list, near('w', undefined, { score: 1 })], scale);
    expect(ids(selectOffers(judged, scale.calibration.offer))).toEqual(['a', 'b', 'c']);
    expect(ids(selectOffers(judge([question], list.slice(2), scale), 0.2))).toEqual([]);
  });

  it('a passage found only by its words is offered before passages with vectors, however unlikely those are', () => {
    const judged = judge([question], [near('a', 0.25), near('b', 0.2), near('w', undefined, { score: 1 })], scale);
    const words = judged.filter(({ features }) => features === undefined);
    expect(ids(selectOffers(judged, scale.calibration.offer, words))).toEqual(['w', 'a', 'b']);
    expect(ids(selectOffers(judged, 1, words))).toEqual(['w']);
  });

  it.each([
    ['a passage with vectors answers, whatever words find in a higher tier', 0.5, ['near'], []],
    ['a passage that only words found is offered together with those that may help', 0.25, [], ['words', 'near']],
  ])('when only some passages have vectors, only a passage with vectors may answer: %s', (_, cosine, hits, offers) => {
    const found = near('words', undefined, { text: strong, score: 9, authority: 'primary' });
    const passages = [near('near', cosine), found];
    const asking = { text: question, readings: [{ text: question, questions: [question] }], settles: true };
    const best = bestReading(asking, passages, { scale, wordsAnswer: false });
    expect([ids(best.hits), ids(best.offers)]).toEqual([hits, offers]);
    expect(best.authority).toBe(hits.length > 0 ? 'normal' : undefined);
  });

  it('worthReading selects the nearest passages of each authority tier, and passages without a vector that match by words', () => {
    const many = Array.from({ length: 12 }, (_, at) => near(`n${at}`, 0.5 - at / 100).candidate);
    const primary = near('p', 0.1, { authority: 'primary' }).candidate;
    const words = [near('w', undefined, { score: 9 }).candidate, near('weak', undefined, { score: 1 }).candidate];
    const read = worthReading([...many, primary, ...words], scale).map(({ id }) => id);
    expect(read).toEqual(['p', ...many.slice(0, 8).map(({ id }) => id), 'w']);
  });

  it('a higher authority tier is searched again only when the search limit may have cut off a near enough passage', () => {
    const full = (last: number) => [0.9, 0.85, last].map((cosine, at) => near(String(at), cosine).candidate);
    expect(crowdedOut(full(0.82), 3, scale)).toEqual(['primary']);
    expect(crowdedOut(full(0.6), 3, scale)).toEqual([]);
    expect(crowdedOut(full(0.82), 4, scale)).toEqual([]);
  });

  it('the same cosine means more relevance when the usual cosines of the index are lower', () => {
    const parts = partWeights(3, true);
    const asked = near('a', undefined);
    const probability = (usual: number[]): number => {
      const background = Array.from({ length: 64 }, () => usual);
      const scale = scaleOf(parts, { background })!;
      const found = [{ ...asked, candidate: { ...asked.candidate, cosines: [0.89, 0.45, 0.72] } }];
      return judge([question], found, scale)[0]!.relevance;
    };
    const { answer, offer } = scaleOf(parts, { background: [] })!.calibration;
    expect(probability([0.82, 0.1, 0.52])).toBeGreaterThan(answer);
    expect(probability([0.88, 0.4, 0.7])).toBeLessThan(offer);
  });

  it('the same cosine means less relevance when the passages of different sources are closer to each other', () => {
    const parts = partWeights(3, true);
    const background = Array.from({ length: 64 }, () => [0.83, 0.11, 0.54]);
    const asked = {
      ...near('a', undefined),
      candidate: { ...near('a', undefined).candidate, cosines: [0.9, 0.45, 0.75] },
    };
    const probability = (distance: number, rows: number): number => {
      const neighbours = {
        near: Array.from({ length: 64 }, () => [distance, 3 * distance, 2 * distance]),
        sampled: 64,
        rows,
      };
      return judge([question], [asked], scaleOf(parts, { background, neighbours }))[0]!.relevance;
    };
    expect(probability(0.08, 64)).toBeLessThan(probability(0.02, 64));
    // In a table with more passages than the sample, the nearest neighbours are nearer.
    expect(probability(0.02, 10_000)).toBeLessThan(probability(0.02, 64));
  });

  it('the English-only model has weight 0 in other languages, and an external model’s cosines count relative to the usual ones', () => {
    expect(partWeights(3, true).every((weight) => weight > 0)).toBe(true);
    expect(partWeights(3, false)[2]).toBe(0);
    expect(scaleOf(partWeights(3, false), { background: [] })).toMatchObject({ foreign: true });
    const cosines = Array.from({ length: 40 }, (_, at) => [0.2 + (at % 5) / 100]);
    const shifted = cosines.map(([cosine = 0]) => [0.7 + (cosine - 0.2) / 10]);
    const above = (background: number[][], cosine: number) =>
      judge(
        [question],
        [{ ...near('a', undefined), candidate: { id: 'a', authority: 'normal', cosines: [cosine] } }],
        scaleOf([1], { background }),
      )[0]!.features!.above;
    expect(above(cosines, 0.3)).toBeCloseTo(above(shifted, 0.71), 6);
    expect(scaleOf([1], { background: cosines.slice(0, 7) })).toBeUndefined();
    expect(scaleOf([1], { background: Array.from({ length: 40 }, () => [0.5]) })).toBeUndefined();
  });
});

describe('crowdedOut', () => {
  const list = (count: number, authority: Authority, last = 9): Candidate[] =>
    Array.from({ length: count }, (_, index) =>
      candidate(String(index), index + 1, { authority, text_score: index === count - 1 ? last : 10 }),
    );

  it.each<[string, Candidate[], Authority[]]>([
    ['none, when it returned fewer candidates than the limit', list(4, 'background'), []],
    ['none, when its last candidate is too weak to matter', list(5, 'background', 1), []],
    ['none, when all candidates are primary', list(5, 'primary'), []],
    ['primary and normal, when all candidates are background', list(5, 'background'), ['primary', 'normal']],
    ['primary, when all candidates are normal', list(5, 'normal'), ['primary']],
    [
      'normal, when candidates are primary or background',
      [...list(4, 'background'), candidate('p', 5, { authority: 'primary', text_score: 10 })],
      ['normal'],
    ],
  ])(
    'a search that reaches its limit may have cut off passages of these authority tiers: %s',
    (_, candidates, expected) => {
      expect(crowdedOut(candidates, 5)).toEqual(expected);
    },
  );
});

describe('retrieve', () => {
  function store(passages: Passage[], candidates: Candidate[]) {
    const asked: Query[] = [];
    const read: string[][] = [];
    return {
      asked,
      read,
      search: async (ask: Query) => {
        asked.push(ask);
        const found = candidates
          .filter(({ authority }) => ask.authority === undefined || authority === ask.authority)
          .filter(({ id }) => !ask.without?.some((name) => id.startsWith(`${name}:`)))
          .slice(0, ask.limit);
        return { candidates: found, background: [] };
      },
      hydrate: async (ids: string[]) => {
        read.push(ids);
        return passages.filter(({ id }) => ids.includes(id)).toReversed();
      },
      sentences: async () => new Map<string, Int8Array>(),
    };
  }
  const ids = (list: readonly { passage: Passage }[]): string[] => list.map((item) => item.passage.id);

  it('the database, and not the index, decides whether a passage exists and which segments and authority tier it has', async () => {
    const deps = store(
      [
        passage('kept', strong),
        passage('moved', strong, { segments: ['personal'] }),
        passage('lowered', strong, { authority: 'background' }),
      ],
      ['gone', 'moved', 'kept', 'lowered'].map((id, index) =>
        candidate(id, index + 1, { text_score: 10, authority: 'primary' }),
      ),
    );
    const { hits, authority } = await retrieve(deps, { question, asked: ['business'], strict: false });
    expect([ids(hits), authority]).toEqual([['kept'], 'normal']);
    expect(deps.asked[0]?.filter).toEqual({ tags: ['business', 'all', 'shared', 'global', 'common'], untagged: true });
  });

  it('a source that is not yet embedded by the current model is judged by its words and not by vectors', async () => {
    const near = candidate('doc:1:0', 1, { cosines: [0.95, 0.8, 0.9] });
    const confidenceOf = async (embedded_by: string | undefined, text: string) => {
      const found = { ...passage('doc:1:0', text), embedded_by: embedded_by ?? 'nothing' };
      const embed = async () => ({ model: 'm', parts: [Float32Array.of(1), Float32Array.of(1), Float32Array.of(1)] });
      const deps = { ...store([found], [near]), embed };
      return (await retrieve(deps, { question, asked: undefined, strict: false })).confidence;
    };
    expect(await confidenceOf('m', unrelated)).toBe('high');
    expect(await confidenceOf(undefined, unrelated)).toBe('none');
    expect(await confidenceOf('other', unrelated)).toBe('none');
    expect(await confidenceOf(undefined, strong)).toBe('low');
  });

  it('a follow-up question is answered from the conversation’s source, unless the question names another subject', async () => {
    const other = { cosines: [0.88, 0.34, 0.66] };
    const passages = [
      passage('loans:1:0', 'The rate of a loan depends on its term.'),
      passage('cards:1:0', 'The rate of the gold card is charged each month.'),
    ];
    // Without the conversation, the question is a little nearer to the passage about loans.
    const toQuestion = [
      candidate('loans:1:0', 1, { ...other, text_score: 2 }),
      candidate('cards:1:0', 1, { cosines: [0.87, 0.31, 0.64], text_score: 2 }),
    ];
    const toContext = [candidate('cards:1:0', 1, { cosines: [0.9, 0.5, 0.75] }), candidate('loans:1:0', 1, other)];
    const deps = {
      hydrate: async (wanted: string[]) => passages.filter(({ id }) => wanted.includes(id)),
      sentences: async () => new Map<string, Int8Array>(),
      embed: async () => ({ model: 'm', parts: [Float32Array.of(1), Float32Array.of(1), Float32Array.of(1)] }),
      search: async ({ text }: Query) => ({
        candidates: text.includes('gold') ? toContext : toQuestion,
        background: [],
      }),
    };
    const first = async (asking: string, context: string[]) =>
      (await retrieve(deps, { question: asking, context, asked: undefined, strict: false })).judged[0]!.passage.id;
    expect(await first('What is the rate?', [])).toBe('loans:1:0');
    expect(await first('What is the rate?', ['The gold card costs 49 EUR.', 'What does the gold card cost?'])).toBe(
      'cards:1:0',
    );
    const bonus = async (asking: string) => {
      const ask = { question: asking, context: ['gold'], asked: undefined, strict: false };
      return (await retrieve(deps, ask)).judged.find(({ passage: { id } }) => id === 'cards:1:0')!.features!.above;
    };
    expect(await bonus('Do you do mortgages?')).toBeLessThan(await bonus('And how is it charged?'));
  });

  it('a document version that is published between the search and the read is found by a second search', async () => {
    const deps = store([passage('doc:2:0', strong)], [candidate('doc:1:0', 1)]);
    const search = async (ask: Query) => {
      const found = await deps.search(ask);
      return deps.asked.length === 1 ? found : { candidates: [candidate('doc:2:0', 1)], background: [] };
    };
    const { hits } = await retrieve({ ...deps, search }, { question, asked: undefined, strict: false });
    expect(ids(hits)).toEqual(['doc:2:0']);
    expect(deps.asked.map(({ without }) => without)).toEqual([[], ['doc:1']]);
  });

  it('a document version that becomes live between two reads is found, and the version that it replaces is not', async () => {
    const deps = store([], [candidate('doc:1:0', 1), candidate('doc:2:0', 2)]);
    const live = ['doc:1:0', 'doc:2:0', 'doc:2:0'];
    const hydrate = async (wanted: string[]) => {
      const id = live.shift();
      return id !== undefined && wanted.includes(id) ? [passage(id, strong)] : [];
    };
    const { hits } = await retrieve({ ...deps, hydrate }, { question, asked: undefined, strict: false });
    expect(ids(hits)).toEqual(['doc:2:0']);
  });

  it('retrieval searches at most three times for passages that rank behind deleted passages', async () => {
    const gone = (source: string) =>
      Array.from({ length: 5 }, (_, index) => candidate(`${source}:1:${index}`, index + 1, { text_score: 10 }));
    const kept = candidate('kept:1:0', 6, { text_score: 9 });
    const ask = { question, asked: undefined, strict: false, limit: 5 };
    const once = store([passage('kept:1:0', strong)], [...gone('a'), ...gone('b'), kept]);
    expect(ids((await retrieve(once, ask)).hits)).toEqual(['kept:1:0']);
    const many = store([passage('kept:1:0', strong)], [...['a', 'b', 'c', 'd', 'e'].flatMap(gone), kept]);
    const tiers = async (): Promise<Authority[]> => ['normal'];
    expect((await retrieve({ ...many, tiers }, ask)).hits).toEqual([]);
    expect(many.asked.map(({ without }) => without)).toEqual([[], ['a:1'], ['a:1', 'b:1']]);
  });

  it('a higher authority tier that a search may have cut off is searched once more, unless the tier is empty', async () => {
    const crowd = Array.from({ length: 5 }, (_, index) => candidate(`n${index}`, index + 1, { text_score: 10 }));
    const deps = store(
      [...crowd.map(({ id }) => passage(id, strong)), passage('p', strong, { authority: 'primary' })],
      [...crowd, candidate('p', 6, { authority: 'primary', text_score: 9 })],
    );
    const ask = { question, asked: undefined, strict: false, limit: 5 };
    const { hits, authority } = await retrieve({ ...deps, tiers: async () => ['primary', 'normal'] }, ask);
    expect([ids(hits), authority]).toEqual([['p'], 'primary']);
    deps.asked.length = 0;
    await retrieve({ ...deps, tiers: async () => ['normal'] }, ask);
    expect(deps.asked).toHaveLength(1);
  });

  it('only candidates that could be relevant are read from the database, unless the caller requests all candidates', async () => {
    const deps = store(
      [passage('a', strong), passage('b', unrelated)],
      [candidate('a', 1, { text_score: 10 }), candidate('b', 2, { text_score: 1 })],
    );
    await retrieve(deps, { question, asked: undefined, strict: false });
    const all = await retrieve(deps, { question, asked: undefined, strict: false, everything: true });
    expect(deps.read).toEqual([['a'], ['a', 'b']]);
    expect(ids(all.judged)).toEqual(['a', 'b']);
    expect(ids(all.hits)).toEqual(['a']);
  });

  it.each<[string, string, string[], string | undefined]>([
    ['its only sentence, once', question, [question], question],
    ['its only sentence, once, even in vain', 'Do you rent submarines?', ['Do you rent submarines?'], undefined],
    ['its full question alone, when that is answered', `I am in Rome. ${question}`, [question], question],
    [
      'its full question, and then the whole message, when nothing answers',
      'I am in Rome. Do you rent submarines?',
      ['Do you rent submarines?', 'I am in Rome. Do you rent submarines?'],
      undefined,
    ],
    [
      'its short question and the whole message',
      'I have the annual gold card. Is there a fee?',
      ['Is there a fee?', 'I have the annual gold card. Is there a fee?'],
      'I have the annual gold card. Is there a fee?',
    ],
    [
      'its last sentence and the whole message, when no sentence asks',
      'My gold card has an annual fee. I am in Rome.',
      ['I am in Rome.', 'My gold card has an annual fee. I am in Rome.'],
      'My gold card has an annual fee.',
    ],
  ])('a message causes a search for %s', async (_, message, texts, asking) => {
    const deps = store([passage('a', strong)], [candidate('a', 1)]);
    const result = await retrieve(deps, {
      question: message,
      askings: readByWords(message).askings,
      asked: undefined,
      strict: false,
    });
    expect(deps.asked.map(({ text }) => text)).toEqual(texts);
    expect(result.hits.length === 0 ? undefined : result.asking).toBe(asking);
  });

  it('vectors are computed for the possible questions of a message, and not for its other sentences', async () => {
    const deps = store([passage('a', unrelated)], [candidate('a', 1)]);
    const embedded: string[] = [];
    const meaning: Meaning = { model: 'm', parts: [Float32Array.of(1)], weights: [1] };
    const embed = async (text: string) => (embedded.push(text), meaning);
    const ask = async (message: string) =>
      retrieve(
        { ...deps, embed },
        {
          question: message,
          askings: readByWords(message).askings,
          asked: undefined,
          strict: false,
        },
      );
    const { meanings } = await ask('I am in Rome. Do you rent submarines?');
    expect(embedded).toEqual(['Do you rent submarines?']);
    expect(meanings.get('Do you rent submarines?')).toEqual(meaning);
    await ask('I lost my passport. Any seashells?');
    expect(embedded.slice(1)).toEqual(['Any seashells?', 'I lost my passport. Any seashells?']);
  });

  it('a passage found only by its words answers without an embedding model, and is only offered when embedding fails', async () => {
    const deps = store(
      [passage('a', strong), passage('title', 'Annual fee of the gold card')],
      [candidate('a', 1), candidate('title', 1)],
    );
    const failing = async (): Promise<Meaning> => Promise.reject(new Error('down'));
    const result = await retrieve({ ...deps, embed: failing }, { question, asked: undefined, strict: false });
    expect([ids(result.hits), ids(result.offers), result.confidence]).toEqual([[], ['a'], 'low']);
    expect([result.authority, result.degraded]).toEqual([undefined, true]);
    const bare = await retrieve(deps, { question, asked: undefined, strict: false });
    expect([ids(bare.hits), ids(bare.offers), bare.confidence]).toEqual([['a', 'title'], [], 'high']);
    deps.asked.length = 0;
    await retrieve({ ...deps, embed: failing }, { question, asked: undefined, strict: false });
    const meaning: Meaning = { model: 'm', parts: [Float32Array.of(1, 0)], weights: [1] };
    await retrieve({ ...deps, embed: async () => meaning }, { question, asked: undefined, strict: false });
    expect(deps.asked.map((asked) => asked.meaning)).toEqual([undefined, meaning]);
    const search = async (ask: Query) => ({ ...(await deps.search(ask)), degraded: true });
    const unread = await retrieve({ ...deps, search }, { question, asked: undefined, strict: false });
    expect([ids(unread.hits), unread.degraded]).toEqual([['a', 'title'], true]);
  });

  it('a chunk that was found twice is returned once, and the number of hits is bounded', async () => {
    const twice = Array.from({ length: 20 }, (_, index) => candidate(`c${index % 10}`, index + 1, { text_score: 10 }));
    const deps = store(
      Array.from({ length: 10 }, (_, index) => passage(`c${index}`, strong)),
      twice,
    );
    const result = await retrieve(deps, { question, asked: undefined, strict: false, everything: true });
    expect(result.judged).toHaveLength(10);
    expect(result.hits).toHaveLength(8);
  });

  it('an empty index gives no hits', async () => {
    expect(await retrieve(store([], []), { question: '', asked: undefined, strict: true })).toMatchObject({
      hits: [],
      judged: [],
      authority: undefined,
    });
  });
});

/**
 * The probability that a passage answers a question, judged by meaning: a logistic model over a few numbers of the
 * search. Its weights and thresholds are in relevance.json, which `npm run calibrate` makes.
 */
import calibrations from './relevance.json' with { type: 'json' };

/**
 * The parts of an embedded vector, in order. For each part: its weight, the spread of its cosines, and the usual cosine
 * of a question with the passages of a help centre (all measured on two of them).
 */
const embeddedParts = [
  { name: 'me5', weight: 1, spread: 0.026, usual: 0.83, englishOnly: false },
  { name: 'use', weight: 0.4, spread: 0.1, usual: 0.11, englishOnly: false },
  { name: 'bge', weight: 1.5, spread: 0.06, usual: 0.54, englishOnly: true },
] as const;
/** The usual values elsewhere count like this many passages: a small table says little about what is usual in it. */
const priorPassages = 16;
/** Of an unknown model only its cosines in the table are known: with fewer passages than this, words alone decide. */
const fewestPassages = 8;

export type Calibration = {
  weights: { intercept: number } & Record<keyof Features, number>;
  /** A passage answers from this probability on. */
  answer: number;
  /** A passage is offered from this probability on. */
  offer: number;
};
/** `embedded`: of the models that come with the platform. `endpoint`: of an unknown model, whose vectors have one part. */
export type Calibrations = Record<'embedded' | 'endpoint', Calibration>;

/** What a passage is compared by: the cosine of each part with the question's, and BM25. */
export type Compared = { cosines: readonly number[]; text_score?: number };

/** The inputs of the logistic model. */
export type Features = {
  /** How far the passage lies above what is usual in the table: a z-score of the cosines, plus its words. */
  above: number;
  /** The share of the question's rare words that the passage has: 0 to 1. */
  share: number;
  /** 1 when the English-only model is left out. */
  foreign: number;
};

/** The scale on which the passages of one question are compared. */
export type Scale = {
  calibration: Calibration;
  /** The weights of the cosines. */
  weights: readonly number[];
  /** The weighted cosines of a usual passage. */
  usual: number;
  foreign: boolean;
};

/** The weight of each part in a search for passages. */
export function partWeights(parts: number, english: boolean): number[] {
  if (parts === 1) return [1];
  return embeddedParts.slice(0, parts).map((part) => (part.englishOnly && !english ? 0 : part.weight / part.spread));
}

/** The weight of one point of BM25, in z-score units: a match of words is strong evidence, but rare. */
export const wordsWeight = 0.04;

const weighted = (weights: readonly number[], cosines: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * (cosines[at] ?? 0), 0);

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The scale for a question whose parts have these weights (`partWeights`) and these cosines with passages of the table.
 * Undefined when too little is known to compare by meaning.
 */
export function scaleOf(
  weights: readonly number[],
  background: readonly (readonly number[])[],
  { embedded, endpoint }: Calibrations = calibrations,
): Scale | undefined {
  if (weights.length === 1) {
    if (background.length < fewestPassages) return undefined;
    const cosines = background.map(([cosine = 0]) => cosine);
    const mean = meanOf(cosines);
    const spread = Math.sqrt(meanOf(cosines.map((cosine) => (cosine - mean) ** 2)));
    if (!(spread > 0)) return undefined;
    return { calibration: endpoint, weights: [1 / spread], usual: mean / spread, foreign: false };
  }
  const total = embeddedParts.reduce((sum, { spread }, at) => sum + (weights[at] ?? 0) * spread, 0);
  if (!(total > 0)) return undefined;
  const shares = weights.map((weight) => weight / total);
  const prior = weighted(
    shares,
    embeddedParts.map(({ usual }) => usual),
  );
  const seen = background.reduce((sum, cosines) => sum + weighted(shares, cosines), 0);
  return {
    calibration: embedded,
    weights: shares,
    usual: (seen + priorPassages * prior) / (background.length + priorPassages),
    foreign: embeddedParts.some(({ englishOnly }, at) => englishOnly && !weights[at]),
  };
}

/** How far a passage lies above what is usual, as a z-score of the cosines. */
export const aboveUsual = (scale: Scale, { cosines, text_score = 0 }: Compared): number =>
  weighted(scale.weights, cosines) - scale.usual + wordsWeight * text_score;

export const featuresOf = (scale: Scale, passage: Compared, share: number): Features => ({
  above: aboveUsual(scale, passage),
  share,
  foreign: scale.foreign ? 1 : 0,
});

/** The logarithm of the odds that a passage with these features answers. */
const logitOf = ({ weights }: Calibration, { above, share, foreign }: Features): number =>
  weights.intercept + weights.above * above + weights.share * share + weights.foreign * foreign;

export const probabilityOf = (calibration: Calibration, features: Features): number =>
  1 / (1 + Math.exp(-logitOf(calibration, features)));

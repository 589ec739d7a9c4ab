/**
 * The probability that a passage answers a question: a logistic model whose features come from the embedding and BM25
 * scores. `npm run calibrate` writes its weights and thresholds to relevance.json.
 */
import calibrations from './relevance.json' with { type: 'json' };

/**
 * The parts of the platform's embedding vectors, in order; each embedding model makes one part. `spread`: the standard
 * deviation of the cosines. `usual`: the typical cosine of a question with any passage of a help centre, measured on
 * two help centres.
 */
const embeddedParts = [
  { name: 'me5', weight: 1, spread: 0.026, usual: 0.83, englishOnly: false },
  { name: 'use', weight: 0.4, spread: 0.1, usual: 0.11, englishOnly: false },
  { name: 'bge', weight: 1.5, spread: 0.06, usual: 0.54, englishOnly: true },
] as const;
/**
 * To estimate the usual cosine of an index table, `usual` (`embeddedParts`) is averaged with the cosines of a sample of
 * the table. `usual` counts like this many sampled passages, because a small sample alone would be unreliable.
 */
const priorPassages = 16;
/**
 * In an index table whose passages all have nearly the same subject, a passage is similar to many questions that it
 * does not answer. So the usual score is raised by this share of the median neighbour distance. The neighbour distance
 * says by how much the cosine of a passage with the nearest passage of another source exceeds its mean cosine. Values
 * from 0.5 to 0.9 were tried on the questions of a bank's customers (59 passages) and on questions to public services
 * (435). With 0.8, a single threshold fits both sets best. The value was chosen on these two sets, so no result on them
 * tests it.
 */
const crowded = 0.8;
/**
 * The standard deviation of the similarity of two passages, in z-score units, measured on samples of four help centres.
 * `crowdedness` uses it to estimate how much nearer the nearest neighbour is in the whole index table than in a sample.
 */
const spreadOfNeighbours = 1.25;
/**
 * `distance`: by how much the cosine of the nearest neighbour exceeds the mean cosine in two small help centres, in
 * z-score units. This distance counts as much as the measured distances of `passages` passages of the index table.
 */
const usualNeighbour = { distance: 1.5, passages: 8 };
/**
 * With fewer passages than this in the sample, the mean and spread of the cosines of an external embedding model are
 * not reliable. Lexical search alone then decides.
 */
const fewestPassages = 8;

export type Calibration = {
  weights: { intercept: number } & Record<keyof Features, number>;
  /** The minimum probability for a passage to be used as an answer. */
  answer: number;
  /** The minimum probability for a passage to be offered as possibly helpful. */
  offer: number;
};
/**
 * `embedded`: for the embedding models that come with the platform; each of them makes one part of a vector.
 * `endpoint`: for one external model, which makes the whole vector.
 */
export type Calibrations = Record<'embedded' | 'endpoint', Calibration>;

/** The scores of a passage for a question: the cosine for each part of the vectors, and BM25. */
export type Compared = { cosines: readonly number[]; text_score?: number };

/**
 * How similar some passages of an index table are to their nearest passage of another source. `near`: for each of these
 * passages and each embedding model, by how much the cosine with the nearest passage exceeds the mean cosine. The
 * nearest passages were searched for among `sampled` of the `rows` passages of the table.
 */
export type Neighbours = { near: readonly (readonly number[])[]; sampled: number; rows: number };

const noNeighbours: Neighbours = { near: [], sampled: 0, rows: 0 };
export type Background = { background: readonly (readonly number[])[]; neighbours?: Neighbours };

export type Features = {
  /**
   * By how much the passage's score exceeds the score of a usual passage of the index table, in z-score units. The
   * score adds up the weighted cosines, weighted BM25, and a bonus for a passage of the conversation's topic.
   */
  above: number;
  /** The share of the question's content words that occur in the passage, weighted by rarity: 0 to 1. */
  share: number;
  /** 1 when the question is not English, so that the English-only model is not used. */
  foreign: number;
};

/**
 * Normalises the scores of the passages of one question, so that they can be compared with the scores for other
 * questions and of other index tables. So the same weights and thresholds (`calibration`) fit all questions and tables.
 */
export type Scale = {
  calibration: Calibration;
  weights: readonly number[];
  /**
   * The weighted sum of a usual passage's cosines, plus the `crowdedness` of the index table. It is subtracted from the
   * weighted sum of each passage.
   */
  usual: number;
  foreign: boolean;
};

/**
 * The weight of each part of a vector in the vector search; each embedding model makes one part. For a question that is
 * not `english`, the part of an English-only model has weight 0.
 */
export function partWeights(parts: number, english: boolean): number[] {
  if (parts === 1) return [1];
  return embeddedParts.slice(0, parts).map((part) => (part.englishOnly && !english ? 0 : part.weight / part.spread));
}

/** The weight of one BM25 point, in z-score units. */
export const wordsWeight = 0.04;

const weighted = (weights: readonly number[], cosines: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * (cosines[at] ?? 0), 0);

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * By how much the usual score is raised because passages of the index table are similar to each other (`crowded`), in
 * z-score units.
 */
function crowdedness({ near, sampled, rows }: Neighbours = noNeighbours, weights: readonly number[]): number {
  const { distance, passages } = usualNeighbour;
  const distances = near.map((above) => weighted(weights, above)).toSorted((a, b) => a - b);
  // The expected maximum of n normally distributed values grows like the square root of 2 ln n. `grown` is the growth
  // from the sample to the whole table.
  const grown = sampled > 1 ? Math.sqrt(2 * Math.log(rows)) - Math.sqrt(2 * Math.log(sampled)) : 0;
  const seen = (distances[Math.floor(distances.length / 2)] ?? 0) + spreadOfNeighbours * grown;
  return crowded * ((seen * distances.length + distance * passages) / (distances.length + passages));
}

/**
 * The scale for one question. `weights` are from `partWeights`; `background` has the cosines of the question with a
 * sample of the index table's passages. Undefined when the sample is too small to compare by embeddings.
 */
export function scaleOf(
  weights: readonly number[],
  { background, neighbours }: Background,
  { embedded, endpoint }: Calibrations = calibrations,
): Scale | undefined {
  if (weights.length === 1) {
    if (background.length < fewestPassages) return undefined;
    const cosines = background.map(([cosine = 0]) => cosine);
    const mean = meanOf(cosines);
    const spread = Math.sqrt(meanOf(cosines.map((cosine) => (cosine - mean) ** 2)));
    if (!(spread > 0)) return undefined;
    const scaled = [1 / spread];
    const usual = mean / spread + crowdedness(neighbours, scaled);
    return { calibration: endpoint, weights: scaled, usual, foreign: false };
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
    usual: (seen + priorPassages * prior) / (background.length + priorPassages) + crowdedness(neighbours, shares),
    foreign: embeddedParts.some(({ englishOnly }, at) => englishOnly && !weights[at]),
  };
}

/** By how much a passage's score exceeds the score of a usual passage of the index table, in z-score units. */
export const aboveUsual = (scale: Scale, { cosines, text_score = 0 }: Compared): number =>
  weighted(scale.weights, cosines) - scale.usual + wordsWeight * text_score;

export const featuresOf = (scale: Scale, above: number, share: number): Features => ({
  above,
  share,
  foreign: scale.foreign ? 1 : 0,
});

const logitOf = ({ weights }: Calibration, { above, share, foreign }: Features): number =>
  weights.intercept + weights.above * above + weights.share * share + weights.foreign * foreign;

export const probabilityOf = (calibration: Calibration, features: Features): number =>
  1 / (1 + Math.exp(-logitOf(calibration, features)));

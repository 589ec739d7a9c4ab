/**
 * How the weights and thresholds of relevance are calibrated: the fit recovers a known model, and thresholds keep the
 * allowed error rates.
 */
import { describe, expect, it } from '@jest/globals';
import { fitLogistic, sigmoid } from '../../bench/calibrate/logistic.ts';
import { thresholdsOf, withThresholds, type Outcome } from '../../bench/calibrate/relevance.ts';
import calibrations from '../../models/rules/knowledge/relevance.json' with { type: 'json' };

describe('a logistic model', () => {
  // Every point of a grid, labelled with the true model's probability, so the fit must recover that model.
  const grid = Array.from({ length: 41 }, (_, at) => (at - 20) / 5);
  const likely = (x: number, y: number): number => sigmoid(-1 + 2 * x - 0.5 * y);
  const examples = grid.flatMap((x) =>
    grid.flatMap((y) => [
      { values: [x, y, 7], right: true, weight: likely(x, y) },
      { values: [x, y, 7], right: false, weight: 1 - likely(x, y) },
    ]),
  );

  it('the logistic fit recovers the weights that produced the examples, and gives a constant feature the weight 0', () => {
    const { intercept, weights } = fitLogistic(examples, 1e-6);
    expect([intercept, ...weights].map((value) => value.toFixed(3))).toEqual(['-1.000', '2.000', '-0.500', '0.000']);
  });

  it('the ridge penalty shrinks the weights towards 0 and keeps them finite for separable examples', () => {
    const held = fitLogistic(examples, 1_000).weights[0]!;
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(1.9);
    const separable = [-2, -1, 1, 2].map((x) => ({ values: [x], right: x > 0, weight: 1 }));
    const { intercept, weights } = fitLogistic(separable);
    for (const value of [intercept, ...weights]) expect(Number.isFinite(value)).toBe(true);
  });
});

describe('thresholds', () => {
  const outcome = (set: string, kind: string, probability: number, rest: object = {}): Outcome =>
    ({
      probability,
      right: false,
      sample: { set, without: false, question: { kind, language: 'en' }, ...rest },
    }) as Outcome;
  const hundred = (set: string, scale: number) =>
    Array.from({ length: 100 }, (_, at) => outcome(set, 'unanswered', (scale * at) / 100));

  it('the relevance thresholds are chosen on the question set whose unanswerable questions are hardest to refuse', () => {
    const all = [...hundred('easy', 0.3), ...hundred('hard', 0.6)];
    const { answer, offer } = thresholdsOf(all);
    const share = (from: number): number =>
      all.filter((one) => one.sample.set === 'hard' && one.probability >= from).length;
    expect(share(answer)).toBeLessThanOrEqual(6);
    expect(share(answer)).toBeGreaterThanOrEqual(5);
    expect(share(offer)).toBeLessThanOrEqual(50);
    expect(offer).toBeLessThan(answer);
  });

  it('the choice of relevance thresholds ignores questions that have an answer or were answered right', () => {
    const high = [
      { ...outcome('a', 'unanswered', 0.9), right: true },
      outcome('a', 'answered', 0.9),
      outcome('a', 'unanswered', 0.9, { without: true, question: { kind: 'unanswered' } }),
    ];
    expect(thresholdsOf([...hundred('a', 0.5), ...high]).answer).toBeLessThan(0.5);
  });

  it('questions in other languages than English get a weight of their own, so that one threshold serves all languages', () => {
    const foreign = hundred('a', 1).map((one) => ({
      ...one,
      sample: { ...one.sample, question: { ...one.sample.question, language: 'de' } },
    }));
    const fitted = { weights: { intercept: -4, above: 2, share: 1, foreign: 1 }, answer: 0, offer: 0 };
    const { calibration, english, others } = withThresholds(fitted, [...hundred('a', 0.5), ...foreign]);
    expect(others.answer).toBeGreaterThan(english.answer);
    const logit = (p: number): number => Math.log(p / (1 - p));
    // A question at the threshold of its own language is now at the common threshold.
    const now = sigmoid(logit(others.answer) - fitted.weights.foreign + calibration.weights.foreign);
    expect(now).toBeCloseTo(calibration.answer, 6);
    expect(calibration.answer).toBe(english.answer);
    expect(withThresholds(fitted, hundred('a', 0.5)).calibration.weights).toEqual(fitted.weights);
  });

  it('the product’s relevance thresholds lie between 0 and 1, and a passage needs more relevance to answer than to be offered', () => {
    for (const { answer, offer, weights } of Object.values(calibrations)) {
      expect([0 < offer, offer < answer, answer < 1]).toEqual([true, true, true]);
      expect([weights.above > 0, weights.share > 0]).toEqual([true, true]);
    }
  });
});

/**
 * Computes models/rules/knowledge/relevance.json: the probability that the best passage answers the question, learned
 * from questions to different help centres. Few of these questions are unanswerable, so each answerable one is also
 * asked with its answering passages removed. The platform's own code searches and judges the passages.
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Corpus, Posed } from './corpus.ts';
import { fitLogistic } from './logistic.ts';
import { languageOf } from '../../models/rules/language/language.ts';
import {
  partWeights,
  scaleOf,
  type Calibration,
  type Calibrations,
  type Features,
} from '../../models/rules/knowledge/relevance.ts';
import { judge, selectOffers, selectTier, type Judged } from '../../models/rules/knowledge/retrieval.ts';

/** A question asked of a help centre. `without`: the passages that answer it were removed. */
export type Sample = Posed & { set: string; group: string; without: boolean; english: boolean };

/** The number of folds in cross-validation. Questions of one intent are similar, so they are in the same fold. */
const folds = 8;
/**
 * The weight of a question whose answer was removed. It is lower, because such a question is nearer to the remaining
 * passages than a real unanswerable one.
 */
const weightWithout = 0.3;
/** Fitting and ranking depend on each other, so they are repeated; after this many rounds nothing changes. */
const rounds = 3;
/** The initial calibration, before the first round. */
const start: Calibration = {
  weights: { intercept: 0, above: 1, share: 0.5, foreign: 0 },
  answer: 0,
  offer: 0,
};

/**
 * Which cosines a calibration uses: those of all embedding models or, with `part`, only those of one model. That model
 * stands for an unknown model, which an operator may configure.
 */
export type View = { kind: keyof Calibrations; part?: number };

export function samplesOf(corpora: readonly Corpus[]): Sample[] {
  return corpora.flatMap(({ name, posed }) =>
    posed.flatMap((each) => {
      const { question, found, accepted } = each;
      const english = languageOf(question.text) === 'en';
      const group = question.intent ?? [...accepted].toSorted()[0] ?? question.text;
      const whole = { ...each, set: name, group: `${name} ${group}`, without: false, english };
      if (accepted.size === 0) return [whole];
      const left = found.filter(({ candidate: { id } }) => !accepted.has(id));
      return [whole, { ...whole, found: left, accepted: new Set<string>(), without: true }];
    }),
  );
}

export type Outcome = { sample: Sample; judged: Judged[]; features: Features; probability: number; right: boolean };

/**
 * The platform's judgement of a sample. Undefined when the view's one model does not support the question's language.
 */
export function outcomeOf(sample: Sample, { kind, part }: View, calibration: Calibration): Outcome | undefined {
  const { background, neighbours } = sample.background;
  const all = partWeights(background[0]!.length, sample.english);
  if (part !== undefined && all[part] === 0) return undefined;
  const seen = (cosines: readonly number[]): readonly number[] => (part === undefined ? cosines : [cosines[part]!]);
  const calibrations = { embedded: calibration, endpoint: calibration };
  const compared = {
    background: background.map(seen),
    ...(neighbours && { neighbours: { ...neighbours, near: neighbours.near.map(seen) } }),
  };
  const scale = scaleOf(part === undefined ? all : [1], compared, calibrations);
  if (scale === undefined) throw new Error(`${sample.set}: too few passages for ${kind}`);
  const found = sample.found.map(({ passage, candidate: { cosines, ...rest } }) => ({
    passage,
    candidate: { ...rest, ...(cosines && { cosines: seen(cosines) }) },
  }));
  const judged = judge([sample.question.text], found, scale);
  const [best] = judged;
  if (best?.features === undefined) return undefined;
  const right = sample.accepted.has(best.passage.id);
  return { sample, judged, features: best.features, probability: best.relevance, right };
}

const names = { embedded: ['above', 'share', 'foreign'], endpoint: ['above', 'share'] } as const;

/** Fits the weights to these samples, without thresholds. */
export function fit(samples: readonly Sample[], views: readonly View[]): Calibration {
  const { kind } = views[0]!;
  let calibration = start;
  for (let round = 0; round < rounds; round += 1) {
    const outcomes = views.flatMap((view) => samples.flatMap((sample) => outcomeOf(sample, view, calibration) ?? []));
    const { intercept, weights } = fitLogistic(
      outcomes.map(({ sample, features, right }) => ({
        values: names[kind].map((name) => features[name]),
        right,
        weight: (sample.without ? weightWithout : 1) / views.length,
      })),
    );
    const fitted = Object.fromEntries(names[kind].map((name, at) => [name, weights[at]!]));
    calibration = { ...calibration, weights: { ...start.weights, ...fitted, intercept } };
  }
  return calibration;
}

/** Cross-validation: judges each sample with a model that was fitted without any question of the same intent. */
export function heldOut(samples: readonly Sample[], views: readonly View[]): Outcome[] {
  const foldOf = ({ group }: Sample): number => createHash('md5').update(group).digest().readUInt32BE() % folds;
  return Array.from({ length: folds }, (_, fold) => {
    const calibration = fit(
      samples.filter((sample) => foldOf(sample) !== fold),
      views,
    );
    const tested = samples.filter((sample) => foldOf(sample) === fold);
    return views.flatMap((view) => tested.flatMap((sample) => outcomeOf(sample, view, calibration) ?? []));
  }).flat();
}

/**
 * The maximum shares of the unanswerable questions: those that get an answer (`answer`), and those that get an answer
 * or an offer of passages (`offer`).
 */
const allowed: Thresholds = { answer: 0.055, offer: 0.5 };
/**
 * The maximum shares for sets in which many unanswerable questions, or nearly all, are about the subject of a document.
 * Unanswerable questions in languages other than English (`allowedInOthers`) are few and hard, so their limit applies
 * only to answers.
 */
const allowedIn: Record<string, Thresholds> = {
  'public services': { answer: 0.32, offer: 1 },
  fixtures: { answer: 0.085, offer: 0.65 },
};
const allowedInOthers = { answer: 0.12, offer: 1 };
/**
 * The amount added to the answer threshold of languages other than English. That threshold is fitted on so few
 * questions that it says little about other help centres.
 */
const caution = 0.055;

export type Thresholds = Pick<Calibration, 'answer' | 'offer'>;
const isEnglish = ({ sample: { question } }: Outcome): boolean => question.language === 'en';

/** The lowest thresholds with which each set stays within its allowed shares. */
export function thresholdsOf(
  outcomes: readonly Outcome[],
  limits: (set: string) => Thresholds = (set) => allowedIn[set] ?? allowed,
): Thresholds {
  const vain = outcomes.filter(({ sample }) => !sample.without && sample.question.kind !== 'answered');
  const threshold = (at: keyof Thresholds): number =>
    Math.max(
      0,
      ...[...Map.groupBy(vain, ({ sample: { set } }) => set)].map(([set, members]) => {
        const share = limits(set)[at];
        const sorted = members.filter(({ right }) => !right).map(({ probability }) => probability);
        return sorted.toSorted((a, b) => b - a)[Math.floor(share * members.length)] ?? 0;
      }),
    );
  const up = (value: number): number => (value === 0 ? 0 : Math.ceil(value * 1000 + 1e-6) / 1000);
  return { answer: up(threshold('answer')), offer: up(threshold('offer')) };
}

const logit = (probability: number): number => Math.log(probability / (1 - probability));

/**
 * Sets the thresholds by the English questions. Then shifts the weight `foreign`, so that the same thresholds fit the
 * other languages. Also returns the thresholds before the shift, for English and for the other languages.
 */
export function withThresholds(fitted: Calibration, outcomes: readonly Outcome[]) {
  const english = thresholdsOf(outcomes.filter(isEnglish));
  const asked = thresholdsOf(
    outcomes.filter((outcome) => !isEnglish(outcome)),
    () => allowedInOthers,
  );
  if (asked.answer === 0 || fitted.weights.foreign === 0)
    return { calibration: { ...fitted, ...english }, english, others: english };
  const shift = logit(asked.answer + caution) - logit(english.answer);
  const others = { answer: asked.answer + caution, offer: 1 / (1 + Math.exp(-logit(english.offer) - shift)) };
  const weights = { ...fitted.weights, foreign: fitted.weights.foreign - shift };
  return { calibration: { weights, ...english }, english, others };
}

/** Prints the outcomes of the questions in percent, for each set and language. */
export function report(outcomes: readonly Outcome[], english: Thresholds, others: Thresholds): void {
  const asked = outcomes.filter(({ sample }) => !sample.without);
  const groups = Map.groupBy(asked, ({ sample: { set, question } }) => {
    const kind = question.kind === 'answered' ? 'answered' : 'not answered';
    return `${set}, ${question.language === 'en' ? 'English' : 'others'}, ${kind}`;
  });
  for (const [group, members] of [...groups].toSorted(([a], [b]) => a.localeCompare(b))) {
    const outcome = Map.groupBy(members, (member) => nameOf(member, isEnglish(member) ? english : others));
    const shares = [...outcome].map(([name, of]) => `${name} ${Math.round((100 * of.length) / members.length)}`);
    console.log(`    ${group.padEnd(40)} ${String(members.length).padStart(4)}   ${shares.toSorted().join(', ')}`);
  }
}

function nameOf({ sample, judged, probability, right }: Outcome, { answer, offer }: Thresholds) {
  const wanted = sample.question.kind === 'answered';
  const accepts = ({ passage }: Judged): boolean => sample.accepted.has(passage.id);
  if (probability >= answer) {
    if (right) return wanted ? 'right' : 'honest';
    if (!wanted) return 'false';
    const { hits } = selectTier(
      judged.map((one) => ({ ...one, relevant: one.relevance >= answer })),
      offer,
    );
    return hits.some(accepts) ? 'somewhere' : 'wrong';
  }
  if (probability < offer) return wanted ? 'missed' : 'honest';
  if (!wanted) return 'offered';
  return selectOffers(judged, offer).some(accepts) ? 'offered' : 'offered wrong';
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

export async function writeCalibrations(path: string, calibrations: Calibrations): Promise<void> {
  const entries = Object.entries(calibrations).map(([name, { weights, answer, offer }]) => {
    const each = Object.entries(weights).map(([key, value]) => [key, rounded(value)] as const);
    return [name, { weights: Object.fromEntries(each), answer, offer }] as const;
  });
  await writeFile(path, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

/**
 * The evaluation of an interview without a language model: which question was answered with what (phase 1), and what each
 * criterion gets for it, with a line of the candidate that shows it (phase 2). Pure. What a candidate says about points and
 * judges counts for nothing.
 */
import type { Decision } from './interview.ts';
import type { Question } from './questions.ts';
import type { Said } from './transcript.ts';
import { sentences } from '../language/sentences.ts';
import { terms } from '../language/words.ts';

export type Answered = {
  question_id: string | null;
  category: string | null;
  question: string;
  answer: string;
  answered: boolean;
};
export type QaSummary = {
  items: Answered[];
  questions: number;
  answered: number;
  /** Whether questions were left when it ended. */
  ended_early: boolean;
  /** In a few sentences. */
  summary: string;
  generated_by: 'extractive' | 'model';
  generated_at: Date;
};

export type CriterionScore = { criterion: string; score: number; quote: string };
export type Evaluation = {
  overall_score: number;
  scores: CriterionScore[];
  recommendation: Decision;
  strengths: string[];
  concerns: string[];
  ended_early: boolean;
  generated_by: 'extractive' | 'model';
  generated_at: Date;
};

export type Interviewed = {
  questions: readonly Question[];
  criteria: readonly string[];
  said: readonly Said[];
  /** The candidate's name, by which a meeting bot knows who is who. */
  candidate?: string | undefined;
};

const same = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase();

/**
 * Who speaks for the candidate: as the room says; in a call elsewhere the speaker of the candidate's name, or else the one
 * who says most and is no AI.
 */
export function isCandidate({ said, candidate }: Pick<Interviewed, 'said' | 'candidate'>): (one: Said) => boolean {
  if (said.some(({ role }) => role !== undefined)) return ({ role }) => role === 'candidate';
  const people = said.filter(({ is_ai }) => !is_ai);
  const named = people.find(({ speaker }) => candidate !== undefined && same(speaker, candidate))?.speaker;
  const length = new Map<string, number>();
  for (const { speaker, text } of people) length.set(speaker, (length.get(speaker) ?? 0) + text.length);
  const [most] = [...length].toSorted(([, a], [, b]) => b - a);
  const speaker = named ?? most?.[0];
  return (one) => !one.is_ai && one.speaker === speaker;
}

/** What the candidate said, in the order in which it was said. */
export const wordsOf = (interviewed: Interviewed): Said[] => interviewed.said.filter(isCandidate(interviewed));

/** Each question with the answer to it. In a call elsewhere an answer is what follows the words of the question. */
export function answersOf(interviewed: Interviewed): Answered[] {
  const { questions, said } = interviewed;
  const byCandidate = isCandidate(interviewed);
  const answers = new Map<string, string[]>(questions.map(({ question_id }) => [question_id, []]));
  let open: string | undefined;
  for (const one of said) {
    if (byCandidate(one)) {
      const asked = one.question_id ?? open;
      if (asked !== undefined) answers.get(asked)?.push(one.text);
      continue;
    }
    open = one.question_id ?? askedIn(one.text, questions) ?? open;
  }
  return questions.map(({ question_id, category, body }) => {
    const answer = answers.get(question_id)!.join('\n').trim();
    return { question_id, category, question: body, answer, answered: answer !== '' };
  });
}

/** The question that these words ask: the one most of whose words are among them. */
function askedIn(text: string, questions: readonly Question[]): string | undefined {
  const spoken = new Set(terms(text).map(({ stem }) => stem));
  let best: { id: string; share: number } | undefined;
  for (const { question_id, body } of questions) {
    const wanted = terms(body);
    const share = wanted.length === 0 ? 0 : wanted.filter(({ stem }) => spoken.has(stem)).length / wanted.length;
    if (share >= 0.6 && share > (best?.share ?? 0)) best = { id: question_id, share };
  }
  return best?.id;
}

/** Phase 1 by rules. */
export function qaSummaryOf(interviewed: Interviewed): Omit<QaSummary, 'generated_at' | 'generated_by'> {
  const items = answersOf(interviewed);
  const answered = items.filter((item) => item.answered).length;
  const early = answered < items.length;
  return { items, questions: items.length, answered, ended_early: early, summary: overviewOf(items, interviewed) };
}

function overviewOf(items: readonly Answered[], interviewed: Interviewed): string {
  const answered = items.filter((item) => item.answered);
  if (wordsOf(interviewed).length === 0) return 'The interview ended before the candidate said anything.';
  const how =
    answered.length === items.length
      ? `The candidate answered all ${items.length} questions.`
      : `The interview ended early: the candidate answered ${answered.length} of ${items.length} questions.`;
  const best = answered
    .flatMap(({ answer }) => sentences(answer))
    .filter((sentence) => !isAboutJudging(sentence))
    .toSorted((a, b) => substanceOf(b) - substanceOf(a))
    .slice(0, 2);
  return [how, ...best.map((sentence) => `“${sentence}”`)].join(' ');
}

/**
 * Words to whoever judges, instead of about the work: what asks for points or a hiring, speaks to a model, or gives orders.
 * Such sentences neither count nor are quoted. en, de, fr, es.
 */
const judging: readonly RegExp[] = [
  /\b(?:give|award|assign|grant|deserve|want|need|get)\b.{0,50}\b(?:points?|scores?|marks|grades?|ratings?|10|ten)\b/iu,
  /\b(?:rate|score|mark|grade|evaluate|judge|recommend|hire|pass)\s+(?:me|this|my|the candidate|him|her|every|all)\b/iu,
  /\b(?:10\s*(?:\/|out of|of)\s*10|ten out of ten|full (?:points|marks|scores?)|(?:highest|maximum|max|top|perfect|best) (?:scores?|ratings?|points|marks|grades?))\b/iu,
  /\b(?:ignore|disregard|forget|override)\b.{0,60}\b(?:instructions?|rules|above|previous|prompt|criteria)\b/iu,
  /\b(?:system prompt|as an ai|language model|(?:dear|attention|note to the?) (?:ai|evaluator|model|assistant|grader))\b/iu,
  /\b(?:gib|geben|vergib|verdiene)\b.{0,50}\b(?:punkte?|punktzahl|noten?|10|zehn)\b|\bbewerte\w*\s+(?:mich|sie mich|alles)|\bstell\w*\s+(?:sie\s+)?mich\s+ein\b|\b(?:volle|höchste)\s+(?:punkt\w*|noten?)|\bignorier\w*\b.{0,60}\b(?:anweisung\w*|regeln)/iu,
  /\b(?:donne\w*|mérite|attribue\w*)\b.{0,50}\b(?:points?|notes?|10|dix)\b|\bnotez?[- ]moi|\bembauche\w*[- ]moi|\bignore\w*\b.{0,60}\b(?:instructions?|consignes|règles)/iu,
  /\b(?:dame|deme|denme|merezco|asigna\w*)\b.{0,50}\b(?:puntos?|notas?|10|diez)\b|\bcalifí?ca\w*me|\bcontrát[ae]\w*me|\bignor[ae]\w*\b.{0,60}\b(?:instrucciones|reglas)/iu,
];
export const isAboutJudging = (sentence: string): boolean => judging.some((form) => form.test(sentence));

/** Signs that somebody speaks of what they did: a figure, a first person that acts, a reason, a result. */
const signs: readonly RegExp[] = [
  /\d/u,
  /\b(?:I|we|my|ich|wir|je|nous|yo|nosotros)\b/u,
  /\b(?:because|so that|therefore|since|weil|damit|deshalb|parce que|donc|porque|para que)\b/iu,
  /\b(?:for example|for instance|such as|when|once|zum Beispiel|als wir|par exemple|quand|por ejemplo|cuando)\b/iu,
  /\b(?:built|led|wrote|designed|reduced|increased|improved|solved|fixed|shipped|launched|learned|tested|measured|decided|organi[sz]ed|migrated|taught|automated|cut|saved|baute|leitete|verbesserte|löste|lernte|entwickel\w+|construit|dirigé|amélioré|résolu|appris|construí|dirigí|mejoré|resolví|aprendí)\b/iu,
];

/** How much a sentence says, 0 to 1: how many subjects it names, and how many signs of experience it has. */
function substanceOf(sentence: string): number {
  if (isAboutJudging(sentence)) return 0;
  const named = terms(sentence).filter(({ weight }) => weight === 1).length;
  const shown = signs.filter((sign) => sign.test(sentence)).length;
  return Math.min(1, named / 8) * 0.6 + (shown / signs.length) * 0.4;
}

/** A line of the candidate, and what it says of a criterion. */
type Line = { text: string; about: ReadonlySet<string>; substance: number; ofQuestion: ReadonlySet<string> };

/** How many of the best lines make a score: an answer that goes on for long is no better for it. */
const countedLines = 3;

const round = (score: number): number => Math.round(score * 10) / 10;
const stemsOf = (text: string): ReadonlySet<string> => new Set(terms(text).map(({ stem }) => stem));

/** Phase 2 by rules; undefined when the candidate said nothing. */
export function evaluationOf(interviewed: Interviewed): Omit<Evaluation, 'generated_at' | 'generated_by'> | undefined {
  const items = answersOf(interviewed);
  const lines = linesOf(interviewed, items);
  if (lines.length === 0) return undefined;
  const answered = items.filter(({ answered: was }) => was).length;
  const coverage = items.length === 0 ? 1 : answered / items.length;
  const scores = interviewed.criteria.map((criterion) => scoreOf(criterion, lines, coverage));
  return concluded(scores, items);
}

function linesOf(interviewed: Interviewed, items: readonly Answered[]): Line[] {
  const questions = new Map(items.map(({ question_id, question }) => [question_id, stemsOf(question)]));
  const asked = new Map(
    items.flatMap(({ answer, question_id }) => sentences(answer).map((line) => [line, question_id])),
  );
  const all = wordsOf(interviewed)
    .flatMap(({ text }) => sentences(text))
    .map((text): Line => ({
      text,
      about: stemsOf(text),
      substance: substanceOf(text),
      ofQuestion: questions.get(asked.get(text) ?? null) ?? new Set(),
    }));
  const honest = all.filter(({ text }) => !isAboutJudging(text));
  return honest.length > 0 ? honest : all;
}

function scoreOf(criterion: string, lines: readonly Line[], coverage: number): CriterionScore {
  const wanted = [...stemsOf(criterion)];
  const share = (has: ReadonlySet<string>): number =>
    wanted.length === 0 ? 0 : wanted.filter((stem) => has.has(stem)).length / wanted.length;
  const ranked = lines
    .map((line) => {
      const relevance = Math.max(share(line.about), 0.7 * share(line.ofQuestion));
      return { line, relevance, worth: line.substance * (0.55 + 0.45 * relevance) };
    })
    .toSorted((a, b) => b.worth - a.worth || b.relevance - a.relevance);
  const best = ranked.slice(0, countedLines);
  const quality = best.reduce((sum, { worth }) => sum + worth, 0) / countedLines;
  // What was not answered cannot have shown anything.
  const score = round(Math.min(10, quality * 13) * (0.4 + 0.6 * coverage));
  const relevant = best.find(({ relevance }) => relevance > 0) ?? best[0]!;
  return { criterion, score, quote: relevant.line.text };
}

/** From where a score is a strength, and below where it is a concern. */
const strong = 7;
const weak = 5;
/** Of how many questions answers are needed to recommend anything. */
const enoughAnswers = 0.5;

/** What follows from scores, whoever gave them: the whole, the recommendation, strengths and concerns. */
export function concluded(
  scores: CriterionScore[],
  items: readonly Answered[],
  given: { strengths?: string[]; concerns?: string[]; recommendation?: Decision } = {},
): Omit<Evaluation, 'generated_at' | 'generated_by'> {
  const overall = round(scores.reduce((sum, { score }) => sum + score, 0) / Math.max(1, scores.length));
  const answered = items.filter((item) => item.answered).length;
  const early = answered < items.length;
  const enough = items.length === 0 || answered / items.length >= enoughAnswers;
  const sorted = scores.toSorted((a, b) => b.score - a.score);
  const strengths =
    given.strengths ??
    sorted.filter(({ score }) => score >= strong).map(({ criterion, quote }) => `${criterion}: “${quote}”`);
  const concerns =
    given.concerns ??
    sorted.filter(({ score }) => score < weak).map(({ criterion }) => `${criterion}: the answers show little of it.`);
  const note = `The interview ended early: ${answered} of ${items.length} questions were answered.`;
  const judged: Decision = overall >= strong ? 'hire' : overall >= weak ? 'next_round' : 'no_hire';
  return {
    overall_score: overall,
    scores,
    recommendation: enough ? (given.recommendation ?? judged) : 'undecided',
    strengths,
    concerns: early ? [note, ...concerns] : concerns,
    ended_early: early,
  };
}

const plain = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();

/** Whether the candidate said this, word for word. */
export function occurs(quote: string, interviewed: Interviewed): boolean {
  const wanted = plain(quote);
  return wanted.length >= 3 && wordsOf(interviewed).some(({ text }) => plain(text).includes(wanted));
}

/** What is wrong with scores that a model gave, in a sentence for the model; undefined when they are right. */
export function scoresProblem(scores: readonly CriterionScore[], interviewed: Interviewed): string | undefined {
  const given = scores.map(({ criterion }) => criterion);
  const missing = interviewed.criteria.filter((criterion) => !given.includes(criterion));
  if (missing.length > 0) return `the criterion "${missing[0]}" is missing.`;
  if (given.length !== interviewed.criteria.length) return 'there are scores for other criteria, or one has two.';
  const wrong = scores.find(({ quote }) => !occurs(quote, interviewed));
  if (wrong) return `the quote for "${wrong.criterion}" is not what the candidate said, word for word.`;
  const judged = scores.find(({ quote }) => isAboutJudging(quote));
  return judged && `the quote for "${judged.criterion}" speaks of the judgement, not of the work.`;
}

/**
 * Scores an interview without a language model. The score of a criterion says how specifically the candidate's own
 * words speak about the criterion: actions, details and outcomes. The score does not say whether the work was good or
 * the words true, so there is no hiring recommendation.
 */
import { isAboutJudging } from './judging.ts';
import { answersOf } from './recognizing.ts';
import { acts, capitals, figures, habit, happened, named, outcome } from './telling.ts';
import { wordsOf, type CriterionScore, type Interviewed } from '../../../models/rules/interviews/evaluation.ts';
import { languageOf } from '../../../models/rules/language/language.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { fold, terms } from '../../../models/rules/language/words.ts';

/** Embeds texts as vectors of length 1, so that the cosine similarity of two vectors is their dot product. */
export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;
export type Asked = Interviewed & { role: string };
export type Scored = { scores: CriterionScore[]; strengths: string[]; concerns: string[] };

/** The sentences that answer one question, or all of the candidate's sentences when none belongs to a question. */
type Answer = { question: string; lines: Line[] };
type Line = { text: string; acts: number; tells: boolean };

/** Scores are multiples of this step. A smaller step would suggest more precision than there is. */
const step = 2;
/** From this score on, a criterion counts as a strength. */
const wellTold = 6;

/**
 * Scores each criterion by the answer that tells most about it. The candidate must have said something. Without
 * `embed`, or when `embed` fails, every answer counts fully for every criterion, because the similarity of answers and
 * criteria is unknown.
 */
export async function score(interviewed: Asked, embed: Embed | undefined): Promise<Scored> {
  const answers = answersIn(interviewed);
  const concern = await concernOf(interviewed, answers, embed);
  const scores = interviewed.criteria.map((criterion, at): CriterionScore => {
    const ranked = answers
      .map((answer, index) => ({
        answer,
        near: concern[at]![index]!,
        worth: told(answer, interviewed) * share(concern[at]![index]!),
      }))
      .toSorted((one, other) => other.worth - one.worth || other.near - one.near);
    const { answer, worth } = ranked[0]!;
    return { criterion, score: Math.min(10, step * Math.round(worth / step)), quote: telling(answer, criterion).text };
  });
  return { scores, ...inWords(scores) };
}

/** Puts the scores into sentences: strengths are criteria with a high score, concerns are criteria with score 0. */
function inWords(scores: readonly CriterionScore[]): Pick<Scored, 'strengths' | 'concerns'> {
  const strong = scores.filter(({ score: given }) => given >= wellTold);
  const silent = scores.filter(({ score: given }) => given === 0);
  return {
    strengths: strong.map(
      ({ criterion, quote }) => `${criterion}: something that was done is told in detail: “${quote}”`,
    ),
    concerns: silent.map(({ criterion }) => `${criterion}: no answer tells of something that was done.`),
  };
}

/**
 * The most sentences of a candidate that are read. The number is limited, because each sentence is compared with all
 * earlier ones.
 */
const maxLines = 2_000;
/** The most stems of a sentence that are compared, to limit the computing time. */
const maxStems = 60;

function answersIn(interviewed: Asked): Answer[] {
  const given = taken(interviewed);
  const seen: ReadonlySet<string>[] = [];
  const read = (texts: readonly string[]): Line[] =>
    texts
      .flatMap((text) => sentences(text))
      .slice(0, maxLines - seen.length)
      .map((text) => lineOf(text, given, seen));
  const items = answersOf(interviewed).filter(({ answered }) => answered);
  const said = wordsOf(interviewed).map(({ text }) => text);
  const answers = items.map(({ question, answer }) => ({ question, lines: read([answer]) }));
  const all = answers.length > 0 ? answers : [{ question: '', lines: read(said) }];
  const honest = all.map(({ question, lines }) => ({
    question,
    lines: lines.filter(({ text }) => !isAboutJudging(text)),
  }));
  const left = honest.filter(({ lines }) => lines.length > 0);
  return left.length > 0
    ? left
    : all.map(({ question, lines }) => ({
        question,
        lines: lines.map(({ text }) => ({ text, acts: 0, tells: false })),
      }));
}

const stemsOf = (text: string): ReadonlySet<string> => new Set(terms(text).map(({ stem }) => stem));

/** The stems of the role, criteria and questions. Repeating these words earns the candidate no score. */
const taken = ({ role, criteria, questions }: Asked): ReadonlySet<string> =>
  stemsOf([role, ...criteria, ...questions.map(({ body }) => body)].join('\n'));

/**
 * A sentence does not count when at least this share of its stems is in the role, criteria and questions, or in one
 * earlier sentence.
 */
const copiedShare = 0.75;
/** A text with a smaller share of function words, such as `the` and `we`, is a list of terms and not a sentence. */
const connectingShare = 0.2;

/** `seen`: the stems of earlier sentences. The function appends the stems of this sentence. */
function lineOf(text: string, given: ReadonlySet<string>, seen: ReadonlySet<string>[]): Line {
  const stems = stemsOf(text);
  const compared = [...stems].slice(0, maxStems);
  const within = (other: ReadonlySet<string>): boolean => {
    const shared = compared.filter((stem) => other.has(stem)).length;
    return compared.length > 0 && shared / compared.length >= copiedShare;
  };
  const isCopied = within(given) || seen.some(within);
  seen.push(stems);
  const words = fold(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean).length;
  const isList = words - stems.size < connectingShare * words;
  if (isCopied || isList || habit.test(text)) return { text, acts: 0, tells: false };
  const done = acts.reduce((sum, form) => sum + [...text.matchAll(form)].length, 0);
  return { text, acts: done, tells: done > 0 || happened.some((form) => form.test(text)) };
}

/**
 * The points of an answer. Each of up to three actions gives `act`, and each of up to three details (figures, days,
 * names) gives `particular`. An outcome gives `outcome`. If at least three sentences tell what happened, the answer
 * gets three times `course`. The sum, at most 11, is limited to 10.
 */
const worthOf = { act: 1.5, particular: 1, outcome: 2, course: 0.5 } as const;
const counted = 3;

/** The points of an answer; 0 when no sentence tells what the candidate did. */
function told({ question, lines }: Answer, asked: Asked): number {
  const telling = lines.filter(({ tells }) => tells);
  const done = telling.reduce((sum, line) => sum + line.acts, 0);
  if (done === 0) return 0;
  const text = telling.map((line) => line.text).join('\n');
  const course = telling.length >= counted ? counted * worthOf.course : 0;
  const came = telling.some((line) => outcome.test(line.text)) ? worthOf.outcome : 0;
  const particulars = particularsOf(text, `${question}\n${asked.role}\n${asked.criteria.join('\n')}`);
  return Math.min(done, counted) * worthOf.act + Math.min(particulars, counted) * worthOf.particular + came + course;
}

/**
 * Counts distinct figures, days and names that are not in `given`. German capitalizes every noun, so capitals do not
 * count in German text.
 */
function particularsOf(text: string, given: string): number {
  const forms = languageOf(text) === 'de' ? [...figures, ...named] : [...figures, ...named, capitals];
  const known = fold(given);
  const found = forms.flatMap((form) => [...text.matchAll(form)].map(([match]) => fold(match)));
  return new Set(found.filter((one) => !known.includes(one))).size;
}

/** The sentence that tells most about a criterion. */
function telling({ lines }: Answer, criterion: string): Line {
  const wanted = stemsOf(criterion);
  const worth = (line: Line): number =>
    worthOfLine(line) + [...stemsOf(line.text)].filter((stem) => wanted.has(stem)).length;
  return lines.toSorted((one, other) => worth(other) - worth(one))[0]!;
}

const worthOfLine = ({ text, acts: done, tells }: Line): number =>
  (tells ? 2 : 0) + Math.min(done, 2) + Math.min(2, particularsOf(text, ''));

/** The candidate's most specific sentences about their own work, the best first. */
export const tellingLines = (interviewed: Interviewed, limit: number): string[] =>
  answersIn({ ...interviewed, role: '' })
    .flatMap(({ lines }) => lines)
    .filter(({ text }) => !isAboutJudging(text))
    .toSorted((one, other) => worthOfLine(other) - worthOfLine(one))
    .slice(0, limit)
    .map(({ text }) => text);

/**
 * Bounds of the cosine similarity: below `from` an answer counts 0 for a criterion, from `to` on the answer counts
 * fully.
 */
const near = { from: 0.835, to: 0.855 } as const;
const share = (likeness: number): number => Math.min(1, Math.max(0, (likeness - near.from) / (near.to - near.from)));

/**
 * For each criterion and each answer, the mean of two similarities: of the answer to the criterion, and of the answer
 * to the question that it answers. Without embeddings, every answer gets the full similarity.
 */
async function concernOf(
  { role, criteria }: Asked,
  answers: readonly Answer[],
  embed: Embed | undefined,
): Promise<number[][]> {
  const unknown = criteria.map(() => answers.map(() => near.to));
  if (embed === undefined) return unknown;
  try {
    const pieces = answers.map(({ lines }) => piecesOf(lines));
    const vectors = await embed(pieces.flat());
    let at = 0;
    const ofAnswers = pieces.map((texts) => mean(vectors.slice(at, (at += texts.length))));
    const ofQuestions = await embed(answers.map(({ question }) => `${role}: ${question}`));
    const ofCriteria = await embed(criteria.map((criterion) => `${role}, ${criterion}`));
    return ofCriteria.map((criterion) =>
      ofAnswers.map((answer, index) => (dot(criterion, answer) + dot(ofQuestions[index]!, answer)) / 2),
    );
  } catch {
    return unknown;
  }
}

/**
 * Embedding models read only the beginning of a text, so an answer is embedded in pieces of about `pieceLength`
 * characters. At most `maxPieces` pieces of an answer are embedded.
 */
const pieceLength = 200;
const maxPieces = 12;
function piecesOf(lines: readonly Line[]): string[] {
  const pieces: string[] = [];
  for (const { text } of lines) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + text.length < pieceLength) pieces[pieces.length - 1] = `${last} ${text}`;
    else pieces.push(text.slice(0, 2 * pieceLength));
  }
  return pieces.slice(0, maxPieces);
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * b[at]!, 0);

function mean(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) for (const [at, x] of vector.entries()) sum[at]! += x;
  const length = Math.hypot(...sum);
  return sum.map((x) => x / length);
}

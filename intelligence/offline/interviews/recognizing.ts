/** Finds which interview question a message asks, and which segments of the transcript answer the question. */
import type { RecognizeAsk } from '../../intelligence.ts';
import { isCandidate, type Answered, type Interviewed } from '../../../models/rules/interviews/evaluation.ts';
import type { Question } from '../../../models/rules/interviews/questions.ts';
import { terms } from '../../../models/rules/language/words.ts';

/** The share of a question's subject words that a message must contain to count as asking the question. */
const askedShare = 0.5;

/** The distinct stems of a text's subject words; generic words are left out. */
export const subjectsOf = (text: string): string[] => [
  ...new Set(
    terms(text)
      .filter(({ weight }) => weight === 1)
      .map(({ stem }) => stem),
  ),
];

/**
 * The id of the unasked question that is most similar to the interviewer's message; undefined when none is similar
 * enough.
 */
export function recognizeQuestion({ questions, asked, text }: RecognizeAsk): string | undefined {
  const words = new Set(subjectsOf(text));
  const shareOf = (stems: readonly string[]): number =>
    stems.length === 0 ? 0 : stems.filter((stem) => words.has(stem)).length / stems.length;
  const [best] = questions
    .filter(({ question_id }) => !asked.includes(question_id))
    .map(({ question_id, body }) => ({ id: question_id, share: shareOf(subjectsOf(body)) }))
    .toSorted((one, other) => other.share - one.share);
  return best && best.share >= askedShare ? best.id : undefined;
}

/**
 * Each question with its answer. When a segment of the candidate has no `question_id`, it answers the question that was
 * asked last.
 */
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

/** The id of the question with the largest share of its words in the text; undefined when all shares are below 0.6. */
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

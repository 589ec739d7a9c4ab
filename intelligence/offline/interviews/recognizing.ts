/** Finds which interview question a message asks, and which segments of the transcript answer the question. */
import type { RecognizeAsk } from '../../intelligence.ts';
import { isCandidate, type Answered, type Interviewed } from '../../../models/rules/interviews/evaluation.ts';
import type { Question } from '../../../models/rules/interviews/questions.ts';
import { terms } from '../../../models/rules/language/words.ts';

const stemsOf = (text: string): string[] => terms(text).map(({ stem }) => stem);
/** The distinct stems of a text's subject words; generic words are left out. */
export const subjectsOf = (text: string): string[] =>
  terms(text)
    .filter(({ weight }) => weight === 1)
    .map(({ stem }) => stem);

/**
 * Returns a function that finds the id of the question with the largest share of its stems in a text. The result is
 * undefined when all shares are below `least`. The stems of the questions are made once.
 */
function finder(
  questions: readonly Question[],
  of: typeof stemsOf,
  least: number,
): (text: string) => string | undefined {
  const known = questions.map(({ question_id, body }) => ({ question_id, stems: of(body) }));
  return (text) => {
    const said = new Set(of(text));
    const shareOf = (stems: readonly string[]): number => stems.filter((stem) => said.has(stem)).length / stems.length;
    return known
      .map(({ question_id, stems }) => ({ question_id, share: shareOf(stems) }))
      .filter(({ share }) => share >= least)
      .toSorted((one, other) => other.share - one.share)[0]?.question_id;
  };
}

/**
 * The id of the unasked question that is most similar to the interviewer's message; undefined when none is similar
 * enough.
 */
export function recognizeQuestion({ questions, asked, text }: RecognizeAsk): string | undefined {
  const unasked = questions.filter(({ question_id }) => !asked.includes(question_id));
  return finder(unasked, subjectsOf, 0.5)(text);
}

/**
 * Each question with its answer. When a segment of the candidate has no `question_id`, it answers the question that was
 * asked last.
 */
export function answersOf(interviewed: Interviewed): Answered[] {
  const { questions, said } = interviewed;
  const byCandidate = isCandidate(interviewed);
  const answers = new Map<string, string[]>(questions.map(({ question_id }) => [question_id, []]));
  const questionIn = finder(questions, stemsOf, 0.6);
  let open: string | undefined;
  for (const one of said) {
    if (byCandidate(one)) {
      const asked = one.question_id ?? open;
      if (asked !== undefined) answers.get(asked)?.push(one.text);
      continue;
    }
    open = one.question_id ?? questionIn(one.text) ?? open;
  }
  return questions.map(({ question_id, category, body }) => {
    const answer = answers.get(question_id)!.join('\n').trim();
    return { question_id, category, question: body, answer, answered: answer !== '' };
  });
}

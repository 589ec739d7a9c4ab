/** What an interview is scored by. Pure. */
import { interviewBounds, unique } from './interview.ts';
import { banks } from './questionbank/index.ts';
import type { InterviewLanguage } from '../language/language.ts';

/** The scored criteria: those given, each once, or the skills, or what is scored usually. */
export function criteriaOf(
  given: readonly string[] | undefined,
  skills: readonly string[],
  language: InterviewLanguage = 'en',
): string[] {
  const chosen = given?.length ? given : skills.length > 0 ? skills : banks[language].usualCriteria;
  return unique(chosen).slice(0, interviewBounds.criteria);
}

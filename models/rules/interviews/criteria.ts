/** What an interview is scored by. Pure. */
import { interviewBounds, unique } from './interview.ts';
import type { InterviewLanguage } from '../language/language.ts';

/** What is scored where nobody chose and no skills are named; standard questions ask for it. */
export const usualCriteria: Readonly<Record<InterviewLanguage, readonly string[]>> = {
  en: ['Communication', 'Problem solving', 'Role knowledge'],
  de: ['Kommunikation', 'Problemlösung', 'Fachwissen'],
  fr: ['Communication', 'Résolution de problèmes', 'Connaissance du métier'],
  es: ['Comunicación', 'Resolución de problemas', 'Conocimiento del puesto'],
};

/** The scored criteria: those given, each once, or the skills, or what is scored usually. */
export function criteriaOf(
  given: readonly string[] | undefined,
  skills: readonly string[],
  language: InterviewLanguage = 'en',
): string[] {
  const chosen = given?.length ? given : skills.length > 0 ? skills : usualCriteria[language];
  return unique(chosen).slice(0, interviewBounds.criteria);
}

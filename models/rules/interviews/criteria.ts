import { interviewBounds, unique } from './interview.ts';
import type { InterviewLanguage } from '../language/language.ts';

/** The default criteria when neither criteria nor skills are given. The standard questions ask about them. */
export const usualCriteria: Readonly<Record<InterviewLanguage, readonly string[]>> = {
  en: ['Communication', 'Problem solving', 'Role knowledge'],
  de: ['Kommunikation', 'Problemlösung', 'Fachwissen'],
  fr: ['Communication', 'Résolution de problèmes', 'Connaissance du métier'],
  es: ['Comunicación', 'Resolución de problemas', 'Conocimiento del puesto'],
};

/** The scored criteria: the given criteria without duplicates, or else the skills, or else the default criteria. */
export function criteriaOf(
  given: readonly string[] | undefined,
  skills: readonly string[],
  language: InterviewLanguage = 'en',
): string[] {
  const chosen = given?.length ? given : skills.length > 0 ? skills : usualCriteria[language];
  return unique(chosen).slice(0, interviewBounds.criteria);
}

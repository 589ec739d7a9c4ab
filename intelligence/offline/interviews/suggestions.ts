/**
 * Suggests the interviewer's next questions: a follow-up that quotes the candidate's last answer, and the next unasked
 * question. Suggestions do not judge the candidate.
 */
import { followUps } from './followups.ts';
import { subjectsOf } from './recognizing.ts';
import { skillsIn } from './skills.ts';
import type { SuggestAsk, Suggestion } from '../../intelligence.ts';
import type { InterviewLanguage } from '../../../models/rules/language/language.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';

export function suggestionsFor({ questions, asked, said, language }: SuggestAsk): Suggestion[] {
  const open = questions.find(({ question_id }) => !asked.includes(question_id));
  const last = said.at(-1);
  const follow = last?.role === 'candidate' ? followUp(last.text, language) : undefined;
  return [
    ...(follow === undefined ? [] : [{ kind: 'follow_up' as const, body: follow }]),
    ...(open ? [{ kind: 'question' as const, body: open.body, question_id: open.question_id }] : []),
  ];
}

/** An answer with fewer words than this is too short to explain how something was done. */
const shortWords = 15;
const quotable = 90;
const figure =
  /(?:\d[\d.,]*\s?(?:%|percent|million|thousand|ms|s|seconds?|minutes?|hours?|days?|weeks?|months?|people|users|customers|€|\$|euros?|dollars?|prozent|tausend|millionen|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|leuten?|kunden|pour cent|mille|millions?|secondes?|heures?|jours?|semaines?|mois|personnes?|clients?|por ciento|mil|millones|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|personas?|clientes?)(?![\p{L}]))/iu;

/** A follow-up question to an answer; undefined when the answer is empty. */
export function followUp(answer: string, language: InterviewLanguage): string | undefined {
  const { example, measured, ownPart, skill: ofSkill, next, result, we, own } = followUps[language];
  const words = answer.trim().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return undefined;
  if (words.length < shortWords) return example;
  const quoted = (body: string, quote: string): string => body.replace('{quote}', () => quote);
  const number = figure.exec(answer)?.[0];
  if (number !== undefined) return quoted(measured, number.trim());
  if (we.test(answer) && !own.test(answer)) return ownPart;
  const [skill] = skillsIn(answer);
  if (skill !== undefined) return quoted(ofSkill, skill);
  const telling = sentences(answer)
    .filter((sentence) => sentence.length <= quotable)
    .toSorted((one, other) => subjectsOf(other).length - subjectsOf(one).length)[0];
  return telling === undefined ? result : quoted(next, telling);
}

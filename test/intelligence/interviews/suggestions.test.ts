import { describe, expect, it } from '@jest/globals';
import { followUps } from '../../../intelligence/offline/interviews/followups.ts';
import { recognizeQuestion } from '../../../intelligence/offline/interviews/recognizing.ts';
import { followUp, suggestionsFor } from '../../../intelligence/offline/interviews/suggestions.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';
import { interviewLanguages, languageOf } from '../../../models/rules/language/language.ts';

const questions = ['How do you test a service?', 'Which database do you prefer?'].map((body, n) => ({
  question_id: `q${n}`,
  category: 'technical',
  body,
}));

const saying = (role: 'candidate' | 'interviewer', text: string): Said => ({
  id: 's1',
  speaker: role,
  text,
  at: new Date(0),
  is_ai: false,
  role,
});

describe('suggestionsFor', () => {
  it('the first suggestion to the interviewer is the first question', () => {
    expect(suggestionsFor({ questions, asked: [], said: [], language: 'en' })).toEqual([
      { kind: 'question', body: questions[0]!.body, question_id: 'q0' },
    ]);
  });
  it('a question asked in other words counts as asked, and the next question is suggested', () => {
    const text = 'Hi! Tell me, how would you test such a service?';
    const recognized = (asked: string[], said: string) => recognizeQuestion({ questions, asked, text: said });
    expect(recognized([], text)).toBe('q0');
    expect([recognized(['q0'], text), recognized([], 'Hello!')]).toEqual([undefined, undefined]);
    expect(suggestionsFor({ questions, asked: ['q0'], said: [saying('interviewer', text)], language: 'en' })).toEqual([
      { kind: 'question', body: questions[1]!.body, question_id: 'q1' },
    ]);
  });
  it('a follow-up is suggested after the candidate speaks and not after the interviewer', () => {
    const after = (role: 'candidate' | 'interviewer', text: string) =>
      suggestionsFor({ questions, asked: [], said: [saying(role, text)], language: 'en' }).map(({ kind }) => kind);
    expect(after('candidate', 'We used PostgreSQL.')).toEqual(['follow_up', 'question']);
    expect(after('interviewer', 'Thanks.')).toEqual(['question']);
  });
});

describe('followUp', () => {
  const long = 'and that is how the whole thing went on from there until it was done in the end';
  it.each([
    ['It was fine.', 'Could you give a concrete example of that?'],
    [`I cut the time by 40 % ${long}`, 'You mentioned “40 %”. How did you measure that, and what was it before?'],
    [`We talked a lot ${long}`, 'You spoke of “we”. What was your own part in it?'],
    [`I chose Kubernetes ${long}`, 'You mentioned Kubernetes. Why that, and what else did you consider?'],
    [`I wrote the plan for it. Then ${long} ${long}.`, 'You said: “I wrote the plan for it.” What happened then?'],
    [' ', undefined],
  ])('the answer %j gets the follow-up question %j (undefined: none)', (answer, question) =>
    expect(followUp(answer, 'en')).toBe(question),
  );
});

describe('followUp in other languages', () => {
  it.each([
    ['de', 'Es war gut.', 'Können Sie dafür ein konkretes Beispiel nennen?'],
    [
      'de',
      'Wir haben die Dauer um 40 Prozent gesenkt und danach alles noch einmal von vorn an gemessen und geprüft, bis es stimmte.',
      'Sie nannten „40 Prozent“. Wie haben Sie das gemessen, und wie war es vorher?',
    ],
    [
      'de',
      'Wir haben lange miteinander gesprochen und dann zusammen einen Weg gefunden, der für alle gut war und gehalten hat.',
      'Sie sprachen von „wir“. Was war Ihr eigener Anteil daran?',
    ],
    [
      'fr',
      'Nous avons parlé longtemps ensemble et puis nous avons trouvé un chemin qui était bon pour tout le monde dans le service.',
      'Vous avez dit « nous ». Quelle a été votre propre part ?',
    ],
    [
      'es',
      'Hablé mucho con el equipo de Kubernetes y después buscamos un camino que fuera bueno para todas las personas del grupo.',
      'Ha mencionado Kubernetes. ¿Por qué eso, y qué más consideró?',
    ],
  ] as const)('in the language %s the answer %j gets the follow-up question %j', (language, answer, question) =>
    expect(followUp(answer, language)).toBe(question),
  );
});

describe('the sentences of follow-ups', () => {
  it.each(interviewLanguages)('all follow-ups in %s are in that language', (language) => {
    const { we: _we, own: _own, ...sentences } = followUps[language];
    expect(languageOf(Object.values(sentences).join(' '))).toBe(language);
  });
});

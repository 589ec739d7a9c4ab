/** Templates of follow-up questions to the candidate's last answer, by language. */

type FollowUps = {
  /** Asks for an example after a very short answer. */
  example: string;
  /** Asks how a figure in the answer (`{quote}`) was measured. */
  measured: string;
  /** Asks for the candidate's own part after an answer that contains `we` but not `I`. */
  ownPart: string;
  /** Asks why the candidate used a skill that the answer names (`{quote}`). */
  skill: string;
  /** Quotes a sentence of the answer (`{quote}`), and asks what happened then. */
  next: string;
  result: string;
  /**
   * The language's words for `we` (`we`) and for `I` (`own`). An answer that matches `we` and not `own` is followed by
   * the question `ownPart`.
   */
  we: RegExp;
  own: RegExp;
};

export const followUps = {
  en: {
    example: 'Could you give a concrete example of that?',
    measured: 'You mentioned “{quote}”. How did you measure that, and what was it before?',
    ownPart: 'You spoke of “we”. What was your own part in it?',
    skill: 'You mentioned {quote}. Why that, and what else did you consider?',
    next: 'You said: “{quote}” What happened then?',
    result: 'What was the result, and what would you do differently today?',
    we: /\bwe\b/iu,
    own: /\bI\b/u,
  },
  de: {
    example: 'Können Sie dafür ein konkretes Beispiel nennen?',
    measured: 'Sie nannten „{quote}“. Wie haben Sie das gemessen, und wie war es vorher?',
    ownPart: 'Sie sprachen von „wir“. Was war Ihr eigener Anteil daran?',
    skill: 'Sie nannten {quote}. Warum gerade das, und was haben Sie sonst erwogen?',
    next: 'Sie sagten: „{quote}“ Was geschah dann?',
    result: 'Was war das Ergebnis, und was würden Sie heute anders machen?',
    we: /\bwir\b/iu,
    own: /\bich\b/iu,
  },
  fr: {
    example: 'Pouvez-vous en donner un exemple concret ?',
    measured: 'Vous avez parlé de « {quote} ». Comment l’avez-vous mesuré, et qu’en était-il avant ?',
    ownPart: 'Vous avez dit « nous ». Quelle a été votre propre part ?',
    skill: 'Vous avez parlé de {quote}. Pourquoi ce choix, et qu’avez-vous envisagé d’autre ?',
    next: 'Vous avez dit : « {quote} » Que s’est-il passé ensuite ?',
    result: 'Quel a été le résultat, et que feriez-vous autrement aujourd’hui ?',
    we: /\bnous\b/iu,
    own: /\bje\b|\bj[’']/iu,
  },
  es: {
    example: '¿Puede dar un ejemplo concreto de eso?',
    measured: 'Ha mencionado «{quote}». ¿Cómo lo midió, y cómo era antes?',
    ownPart: 'Ha hablado de «nosotros». ¿Cuál fue su propia parte?',
    skill: 'Ha mencionado {quote}. ¿Por qué eso, y qué más consideró?',
    next: 'Ha dicho: «{quote}» ¿Qué pasó después?',
    result: '¿Cuál fue el resultado, y qué haría hoy de otra manera?',
    // Spanish usually omits the pronoun, so only an explicit `nosotros` counts as `we`.
    we: /\bnosotr[oa]s\b/iu,
    own: /\byo\b|\bmi\b/iu,
  },
} as const satisfies Record<string, FollowUps>;

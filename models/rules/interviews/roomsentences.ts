/** The room's own texts by language. The interview questions are in other files. Pure data. */

/**
 * Notices that are shown before anything is recorded. Each mode has a notice that says what the AI does; `all` is shown
 * in every mode.
 */
export const notices = {
  solo: {
    en: 'An AI asks the questions in this interview; no person reads along unless an interviewer joins.',
    de: 'In diesem Interview stellt eine KI die Fragen; niemand liest mit, solange keine interviewende Person dazukommt.',
    fr: 'Dans cet entretien, une IA pose les questions ; personne ne suit l’échange, sauf si une personne chargée de l’entretien le rejoint.',
    es: 'En esta entrevista, una IA hace las preguntas; nadie más lee la conversación, salvo que se una la persona entrevistadora.',
  },
  copilot: {
    en: 'A person leads this interview, and an AI reads along and suggests questions to that person.',
    de: 'Eine Person führt dieses Interview; eine KI liest mit und schlägt dieser Person Fragen vor.',
    fr: 'Une personne mène cet entretien ; une IA suit l’échange et propose des questions à cette personne.',
    es: 'Una persona dirige esta entrevista; una IA lee la conversación y propone preguntas a esa persona.',
  },
  shadow: {
    en: 'A person leads this interview, and an AI records it and evaluates it afterwards.',
    de: 'Eine Person führt dieses Interview; eine KI zeichnet es auf und wertet es danach aus.',
    fr: 'Une personne mène cet entretien ; une IA l’enregistre et l’évalue ensuite.',
    es: 'Una persona dirige esta entrevista; una IA la registra y la evalúa después.',
  },
  all: {
    en: 'Everything that is written here is recorded as text, with its time, and is evaluated with the help of an AI for the organization that invited you. Nothing is recorded before you agree, and you may leave at any time.',
    de: 'Alles, was hier geschrieben wird, wird als Text mit Uhrzeit aufgezeichnet und mit Hilfe einer KI für die Organisation ausgewertet, die Sie eingeladen hat. Bevor Sie zustimmen, wird nichts aufgezeichnet, und Sie können jederzeit gehen.',
    fr: 'Tout ce qui est écrit ici est enregistré sous forme de texte, avec l’heure, et évalué à l’aide d’une IA pour l’organisation qui vous a invité. Rien n’est enregistré avant votre accord, et vous pouvez partir à tout moment.',
    es: 'Todo lo que se escribe aquí se registra como texto, con su hora, y se evalúa con ayuda de una IA para la organización que le ha invitado. No se registra nada antes de que usted acepte, y puede marcharse en cualquier momento.',
  },
} as const;

/** Messages that say why an interview in the room has ended, by end reason. */
export const endings = {
  all_answered: {
    en: 'All questions are answered. Thank you for your time.',
    de: 'Alle Fragen sind beantwortet. Vielen Dank für Ihre Zeit.',
    fr: 'Toutes les questions ont reçu une réponse. Merci pour votre temps.',
    es: 'Todas las preguntas están respondidas. Gracias por su tiempo.',
  },
  candidate_ended: {
    en: 'The candidate ended the interview.',
    de: 'Das Interview wurde von der eingeladenen Person beendet.',
    fr: 'La personne invitée a mis fin à l’entretien.',
    es: 'La persona invitada ha terminado la entrevista.',
  },
  interviewer_ended: {
    en: 'The interviewer ended the interview.',
    de: 'Das Interview wurde von der interviewenden Person beendet.',
    fr: 'La personne chargée de l’entretien y a mis fin.',
    es: 'La persona entrevistadora ha terminado la entrevista.',
  },
  consent_refused: {
    en: 'The candidate did not agree to the recording, so the interview was cancelled. Nothing was recorded.',
    de: 'Der Aufzeichnung wurde nicht zugestimmt, daher ist das Interview abgesagt. Es wurde nichts aufgezeichnet.',
    fr: 'L’enregistrement n’a pas été accepté, l’entretien est donc annulé. Rien n’a été enregistré.',
    es: 'No se ha aceptado el registro, por lo que la entrevista queda cancelada. No se ha registrado nada.',
  },
  candidate_no_show: {
    en: 'Nobody came, so the interview was cancelled.',
    de: 'Es ist niemand gekommen, daher ist das Interview abgesagt.',
    fr: 'Personne n’est venu, l’entretien est donc annulé.',
    es: 'No ha venido nadie, por lo que la entrevista queda cancelada.',
  },
  maximum_length: {
    en: 'The interview reached its longest length.',
    de: 'Das Interview hat seine längste Dauer erreicht.',
    fr: 'L’entretien a atteint sa durée maximale.',
    es: 'La entrevista ha alcanzado su duración máxima.',
  },
  cancelled: {
    en: 'The interview was cancelled.',
    de: 'Das Interview wurde abgesagt.',
    fr: 'L’entretien a été annulé.',
    es: 'La entrevista se ha cancelado.',
  },
  ended: {
    en: 'The interview has ended.',
    de: 'Das Interview ist beendet.',
    fr: 'L’entretien est terminé.',
    es: 'La entrevista ha terminado.',
  },
} as const;

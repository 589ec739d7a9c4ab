/**
 * Recognises messages that are a courtesy, and holds the agent's own sentences. Pure, based on words, in four
 * languages; a message that it does not recognise is a question.
 */
import { languages, type Language } from './language.ts';

/** The form in which messages are compared: lower case, plain apostrophes, single blanks. */
const plainWords = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/[\s¡¿]+/gu, ' ')
    .trim();

const end = String.raw`[ ,.!?)\p{Extended_Pictographic}\u{fe0f}]*$`;
const courtesies = {
  greeting: {
    en: `^(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings)(?: there| again| everyone| team| all)*${end}`,
    de: `^(?:hallo|guten (?:tag|morgen|abend)|moin(?: moin)?|servus|grüß gott|grüezi)(?: zusammen| nochmals?)*${end}`,
    fr: `^(?:bonjour|bonsoir|salut|coucou)(?: à tous| madame| monsieur)*${end}`,
    es: `^(?:hola|buenos días|buenas(?: tardes| noches)?|saludos)(?: de nuevo| a todos)*${end}`,
  },
  thanks: {
    en: `^(?:ok(?:ay)?|great|perfect|super|cool|got it|alright|nice|awesome|wonderful|[ ,.!])*(?:thanks?(?: you)?|thx|cheers|many thanks|much appreciated)(?: so much| very much| a lot| again| for (?:your|the) help| that helps| that helped|[ ,.!])*${end}`,
    de: `^(?:ok(?:ay)?|super|prima|perfekt|alles klar|toll|[ ,.!])*(?:danke(?:schön)?|vielen dank|besten dank|herzlichen dank)(?: schön| sehr| für (?:die|ihre) hilfe|[ ,.!])*${end}`,
    fr: `^(?:ok|parfait|super|d'accord|[ ,.!])*merci(?: beaucoup| bien| à vous| pour votre aide|[ ,.!])*${end}`,
    es: `^(?:ok|vale|perfecto|genial|[ ,.!])*(?:muchas |mil )?gracias(?: por (?:su|tu|la) ayuda|[ ,.!])*${end}`,
  },
  farewell: {
    en: `^(?:bye(?:[- ]bye)?|goodbye|see you|have a (?:nice|good|great) (?:day|evening|weekend))${end}`,
    de: `^(?:tschüss|tschüß|auf wiedersehen|schönen (?:tag|abend)(?: noch)?|ciao)${end}`,
    fr: `^(?:au revoir|bonne journée|bonne soirée|à bientôt)${end}`,
    es: `^(?:adiós|hasta luego|hasta pronto|que tenga un buen día)${end}`,
  },
} as const satisfies Record<string, Record<Language, string>>;
export type Courtesy = keyof typeof courtesies;

const patterns = (Object.keys(courtesies) as Courtesy[]).flatMap((kind) =>
  languages.map((language) => ({ kind, language, pattern: new RegExp(courtesies[kind][language], 'u') })),
);

/** A message that is only a greeting, thanks or a farewell, so that no search is needed. */
export function courtesyIn(text: string): { kind: Courtesy; language: Language } | undefined {
  if (text.length > 80) return undefined;
  const plain = plainWords(text);
  const found = patterns.find(({ pattern }) => pattern.test(plain));
  return found && { kind: found.kind, language: found.language };
}

/** The agent's own sentences: everything that it says without a source document. */
export const ownSentences = {
  called: {
    en: 'I have called a person from the team. They will reply here.',
    de: 'Ich habe eine Person aus dem Team gerufen. Sie antwortet Ihnen hier.',
    fr: "J'ai appelé une personne de l'équipe. Elle vous répondra ici.",
    es: 'He avisado a una persona del equipo. Le responderá aquí.',
  },
  greeting: {
    en: 'Hello! What would you like to know?',
    de: 'Guten Tag! Was möchten Sie wissen?',
    fr: 'Bonjour ! Que souhaitez-vous savoir ?',
    es: '¡Hola! ¿Qué desea saber?',
  },
  thanks: {
    en: 'You are welcome. Is there anything else you would like to know?',
    de: 'Gern geschehen. Möchten Sie noch etwas wissen?',
    fr: 'Avec plaisir. Souhaitez-vous savoir autre chose ?',
    es: 'De nada. ¿Desea saber algo más?',
  },
  farewell: {
    en: 'Goodbye, and write again whenever you need to.',
    de: 'Auf Wiedersehen, und schreiben Sie jederzeit wieder.',
    fr: 'Au revoir, et écrivez-nous quand vous voulez.',
    es: 'Hasta luego, y escriba de nuevo cuando lo necesite.',
  },
  /** Nothing was found, with advice on how to continue. */
  notFound: {
    en: 'I could not find an answer to this in the documents I have. You can ask it in other words, or ask for a person, and I will call one.',
    de: 'Dazu habe ich in meinen Unterlagen keine Antwort gefunden. Fragen Sie gern mit anderen Worten, oder schreiben Sie, dass Sie mit einer Person sprechen möchten, und ich rufe eine.',
    fr: "Je n'ai pas trouvé de réponse à cela dans les documents dont je dispose. Vous pouvez le demander autrement, ou demander à parler à une personne, et je l'appellerai.",
    es: 'No he encontrado una respuesta a esto en los documentos que tengo. Puede preguntarlo con otras palabras o pedir hablar con una persona, y la avisaré.',
  },
  /** Nothing was found a second time. */
  notFoundAgain: {
    en: 'I could not find an answer to this either, so I have called a person from the team. They will reply here.',
    de: 'Auch dazu habe ich keine Antwort gefunden und deshalb eine Person aus dem Team gerufen. Sie antwortet Ihnen hier.',
    fr: "Je n'ai pas trouvé de réponse à cela non plus, j'ai donc appelé une personne de l'équipe. Elle vous répondra ici.",
    es: 'Tampoco he encontrado una respuesta a esto, así que he avisado a una persona del equipo. Le responderá aquí.',
  },
  /** The search or the model failed, after all retries. */
  outOfOrder: {
    en: 'I cannot look this up at the moment, so I have called a person from the team. They will reply here.',
    de: 'Ich kann das im Moment nicht nachsehen und habe deshalb eine Person aus dem Team gerufen. Sie antwortet Ihnen hier.',
    fr: "Je ne peux pas vérifier cela pour le moment, j'ai donc appelé une personne de l'équipe. Elle vous répondra ici.",
    es: 'En este momento no puedo consultarlo, así que he avisado a una persona del equipo. Le responderá aquí.',
  },
  /** A test organization has used up its answers for this minute. */
  overTestLimit: {
    en: 'This is a test conversation, and its organization has used up the answers that test mode allows in a minute. Please ask again in a minute.',
    de: 'Dies ist ein Testgespräch, und die Organisation hat die Antworten verbraucht, die der Testmodus in einer Minute erlaubt. Bitte fragen Sie in einer Minute noch einmal.',
    fr: "Ceci est une conversation de test, et l'organisation a utilisé toutes les réponses que le mode test permet en une minute. Veuillez redemander dans une minute.",
    es: 'Esta es una conversación de prueba, y la organización ha agotado las respuestas que el modo de prueba permite en un minuto. Vuelva a preguntar dentro de un minuto.',
  },
} as const satisfies Record<string, Record<Language, string>>;

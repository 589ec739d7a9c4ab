import type { Language } from './language.ts';

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
  /** Asked what it can do, or for help with nothing in particular. */
  help: {
    en: 'Of course. I answer questions from the documents I have been given. What would you like to know?',
    de: 'Natürlich. Ich beantworte Fragen aus den Unterlagen, die mir vorliegen. Was möchten Sie wissen?',
    fr: 'Bien sûr. Je réponds aux questions à partir des documents dont je dispose. Que souhaitez-vous savoir ?',
    es: 'Por supuesto. Respondo a preguntas con los documentos que tengo. ¿Qué desea saber?',
  },
  small_talk: {
    en: 'Thank you for asking. I am here for questions about our service. What would you like to know?',
    de: 'Danke der Nachfrage. Ich bin für Fragen zu unserem Angebot da. Was möchten Sie wissen?',
    fr: 'Merci de le demander. Je suis là pour les questions sur nos services. Que souhaitez-vous savoir ?',
    es: 'Gracias por preguntar. Estoy aquí para preguntas sobre nuestro servicio. ¿Qué desea saber?',
  },
  /** Asked who or what it is. */
  bot: {
    en: 'I am an automated assistant and answer from the documents I have been given. If you would like a person, ask for one, and I will call one.',
    de: 'Ich bin ein automatischer Assistent und antworte aus den Unterlagen, die mir vorliegen. Wenn Sie lieber mit einer Person sprechen, schreiben Sie es, und ich rufe eine.',
    fr: "Je suis un assistant automatique et je réponds à partir des documents dont je dispose. Si vous préférez une personne, demandez-la, et je l'appellerai.",
    es: 'Soy un asistente automático y respondo con los documentos que tengo. Si prefiere una persona, pídala, y la avisaré.',
  },
  insult: {
    en: 'I am sorry that this is not going well. You can ask in other words, or ask for a person, and I will call one.',
    de: 'Es tut mir leid, dass das nicht gut läuft. Fragen Sie gern mit anderen Worten, oder schreiben Sie, dass Sie mit einer Person sprechen möchten, und ich rufe eine.',
    fr: "Je suis désolé que cela se passe mal. Vous pouvez le demander autrement, ou demander à parler à une personne, et je l'appellerai.",
    es: 'Siento que esto no vaya bien. Puede preguntarlo con otras palabras o pedir hablar con una persona, y la avisaré.',
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

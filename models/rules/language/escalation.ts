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
  /** A member has to agree to an action; said while it waits. */
  memberAsked: {
    en: 'Somebody of the team has to agree to this first. I will tell you here as soon as it is decided.',
    de: 'Dem muss erst jemand aus dem Team zustimmen. Ich sage Ihnen hier Bescheid, sobald es entschieden ist.',
    fr: "Une personne de l'équipe doit d'abord donner son accord. Je vous le dirai ici dès que c'est décidé.",
    es: 'Primero alguien del equipo tiene que aprobarlo. Se lo diré aquí en cuanto esté decidido.',
  },
  /** An action was done and said nothing of itself. */
  actionDone: { en: 'That is done.', de: 'Das ist erledigt.', fr: "C'est fait.", es: 'Hecho.' },
  actionFailed: {
    en: 'That did not work. Nothing was changed as far as I can see; you can try again, or ask for a person.',
    de: 'Das hat nicht geklappt. Soweit ich sehe, wurde nichts geändert; Sie können es noch einmal versuchen oder nach einer Person fragen.',
    fr: "Cela n'a pas fonctionné. Rien n'a été modifié à ma connaissance ; vous pouvez réessayer ou demander une personne.",
    es: 'No ha funcionado. Por lo que veo, no se ha cambiado nada; puede intentarlo de nuevo o pedir hablar con una persona.',
  },
  /** It is not known whether an action was carried out. */
  actionUnknown: {
    en: 'I do not know whether this was carried out, so I will not try again. I have called a person from the team, who will look and reply here.',
    de: 'Ich weiß nicht, ob das ausgeführt wurde, und versuche es deshalb nicht noch einmal. Ich habe eine Person aus dem Team gerufen; sie sieht nach und antwortet Ihnen hier.',
    fr: "Je ne sais pas si cela a été exécuté, je ne réessaie donc pas. J'ai appelé une personne de l'équipe, qui vérifiera et vous répondra ici.",
    es: 'No sé si esto se ha llevado a cabo, así que no lo intentaré de nuevo. He avisado a una persona del equipo, que lo comprobará y le responderá aquí.',
  },
  actionDeclined: {
    en: 'All right, nothing was done.',
    de: 'In Ordnung, es wurde nichts unternommen.',
    fr: "D'accord, rien n'a été fait.",
    es: 'De acuerdo, no se ha hecho nada.',
  },
  actionExpired: {
    en: 'It was not confirmed in time, so nothing was done. Ask again if you still want it.',
    de: 'Es wurde nicht rechtzeitig bestätigt, deshalb wurde nichts unternommen. Fragen Sie noch einmal, wenn Sie es weiterhin möchten.',
    fr: "Ce n'a pas été confirmé à temps, rien n'a donc été fait. Redemandez si vous le souhaitez toujours.",
    es: 'No se confirmó a tiempo, así que no se ha hecho nada. Pídalo de nuevo si aún lo desea.',
  },
  /** A member has refused an action. */
  actionRefused: {
    en: 'The team has not agreed to this, so nothing was done.',
    de: 'Das Team hat dem nicht zugestimmt, deshalb wurde nichts unternommen.',
    fr: "L'équipe n'a pas donné son accord, rien n'a donc été fait.",
    es: 'El equipo no lo ha aprobado, así que no se ha hecho nada.',
  },
  /** The customer is not known well enough for a tool. */
  signInFirst: {
    en: 'For this I have to know who you are. Please sign in and ask again.',
    de: 'Dafür muss ich wissen, wer Sie sind. Bitte melden Sie sich an und fragen Sie noch einmal.',
    fr: 'Pour cela, je dois savoir qui vous êtes. Veuillez vous connecter et redemander.',
    es: 'Para esto necesito saber quién es usted. Inicie sesión y vuelva a preguntar.',
  },
  /** Only a person may do what was asked. */
  personOnly: {
    en: 'Only a person may do this, so I have called one from the team. They will reply here.',
    de: 'Das darf nur eine Person tun, deshalb habe ich eine aus dem Team gerufen. Sie antwortet Ihnen hier.',
    fr: "Seule une personne peut faire cela, j'en ai donc appelé une de l'équipe. Elle vous répondra ici.",
    es: 'Solo una persona puede hacer esto, así que he avisado a una del equipo. Le responderá aquí.',
  },
  /** A tool fits, and something it needs was not said; what that is follows. */
  needsMore: {
    en: 'I can look into that. Please tell me:',
    de: 'Darum kann ich mich kümmern. Bitte nennen Sie mir:',
    fr: "Je peux m'en occuper. Veuillez m'indiquer :",
    es: 'Puedo ocuparme de eso. Indíqueme, por favor:',
  },
  /** A test organization has used up its answers for this minute. */
  overTestLimit: {
    en: 'This is a test conversation, and its organization has used up the answers that test mode allows in a minute. Please ask again in a minute.',
    de: 'Dies ist ein Testgespräch, und die Organisation hat die Antworten verbraucht, die der Testmodus in einer Minute erlaubt. Bitte fragen Sie in einer Minute noch einmal.',
    fr: "Ceci est une conversation de test, et l'organisation a utilisé toutes les réponses que le mode test permet en une minute. Veuillez redemander dans une minute.",
    es: 'Esta es una conversación de prueba, y la organización ha agotado las respuestas que el modo de prueba permite en un minuto. Vuelva a preguntar dentro de un minuto.',
  },
} as const satisfies Record<string, Record<Language, string>>;

import type { Own } from './own.ts';

export const fr: Own = {
  called: "J'ai appelé une personne de l'équipe. Elle vous répondra ici.",
  away: "L'équipe n'est pas là en ce moment. Elle est de retour le {when}.",
  greeting: 'Bonjour ! Que souhaitez-vous savoir ?',
  thanks: 'Avec plaisir. Souhaitez-vous savoir autre chose ?',
  farewell: 'Au revoir, et écrivez-nous quand vous voulez.',
  help: 'Bien sûr. Je réponds aux questions à partir des documents dont je dispose. Que souhaitez-vous savoir ?',
  small_talk: 'Merci de le demander. Je suis là pour les questions sur nos services. Que souhaitez-vous savoir ?',
  bot: "Je suis un assistant automatique et je réponds à partir des documents dont je dispose. Si vous préférez une personne, demandez-la, et je l'appellerai.",
  insult:
    "Je suis désolé que cela se passe mal. Vous pouvez le demander autrement, ou demander à parler à une personne, et je l'appellerai.",
  notFound:
    "Je n'ai pas trouvé de réponse à cela dans les documents dont je dispose. Vous pouvez le demander autrement, ou demander à parler à une personne, et je l'appellerai.",
  notFoundAgain:
    "Je n'ai pas trouvé de réponse à cela non plus, j'ai donc appelé une personne de l'équipe. Elle vous répondra ici.",
  outOfOrder:
    "Je ne peux pas vérifier cela pour le moment, j'ai donc appelé une personne de l'équipe. Elle vous répondra ici.",
  memberAsked: "Une personne de l'équipe doit d'abord donner son accord. Je vous le dirai ici dès que c'est décidé.",
  actionDone: "C'est fait.",
  actionFailed:
    "Cela n'a pas fonctionné. Rien n'a été modifié à ma connaissance ; vous pouvez réessayer ou demander une personne.",
  actionUnknown:
    "Je ne sais pas si cela a été exécuté, je ne réessaie donc pas. J'ai appelé une personne de l'équipe, qui vérifiera et vous répondra ici.",
  actionDeclined: "D'accord, rien n'a été fait.",
  actionExpired: "Cela n'a pas été confirmé à temps, rien n'a donc été fait. Redemandez si vous le souhaitez toujours.",
  actionRefused: "L'équipe n'a pas donné son accord, rien n'a donc été fait.",
  signInFirst: 'Pour cela, je dois savoir qui vous êtes. Veuillez vous connecter et redemander.',
  personOnly: "Seule une personne peut faire cela, j'en ai donc appelé une de l'équipe. Elle vous répondra ici.",
  needsMore: "Je peux m'en occuper. Veuillez m'indiquer :",
  overTestLimit:
    "Ceci est une conversation de test, et l'organisation a utilisé toutes les réponses que le mode test permet en une minute. Veuillez redemander dans une minute.",
  nothingFound: "Je n'ai rien trouvé à ce sujet dans les documents disponibles.",
  mayHelp: 'Ceci pourrait vous aider :',
  nothingMore: "Mes documents n'en disent pas plus que ce que j'ai écrit ci-dessus.",
  newer: '(Selon « {a} » ; « {b} », plus ancien, dit autre chose.)',
  otherLanguage: 'Nos documents le disent dans une autre langue :',
};

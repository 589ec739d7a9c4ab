/** The question templates in French. bank.ts describes the fields. */
import type { Bank } from './bank.ts';

export const fr: Bank = {
  opening: {
    named: 'Présentez-vous, s’il vous plaît. Laquelle de vos expériences compte le plus pour le poste « {role} » ?',
    plain: 'Présentez-vous, s’il vous plaît. Laquelle de vos expériences compte le plus pour ce poste ?',
  },

  aboutSkill: {
    introduction: ['Ce poste demande « {skill} ». Où en avez-vous eu besoin jusqu’à présent ?'],
    technical: [
      'junior: Ce poste demande « {skill} ». Quelle est votre préparation sur ce point ?',
      'mid: Pour nous, « {skill} » compte beaucoup. Que citeriez-vous de votre travail à ce sujet ?',
      'senior: D’après votre expérience, que sous-estime-t-on sur le thème « {skill} » ?',
      'lead: Supposons que vous recrutiez pour ce poste. Comment vérifieriez-vous « {skill} » ?',
      'Ce poste comprend « {skill} ». Qu’apportez-vous, et que vous resterait-il à apprendre ?',
    ],
    behavioral: [
      'junior, mid: Ce poste demande « {skill} ». Parlez-nous d’une situation au travail où cela a compté.',
      'senior, lead: Ce poste demande « {skill} ». Parlez-nous d’une situation au travail où beaucoup en dépendait.',
    ],
  },

  aboutCriterion: [
    'Nous regardons aussi « {criterion} ». Quel exemple de votre travail nous donneriez-vous ?',
    'Que dirait de vous votre dernière équipe sur le thème « {criterion} » ?',
  ],

  aboutQuote: {
    achievement: [
      'Votre CV indique : « {quote} ». Quelle a été votre propre part ?',
      'Votre CV indique : « {quote} ». Comment avez-vous procédé, et comment avez-vous su que cela marchait ?',
      'Votre CV indique : « {quote} ». Que feriez-vous autrement aujourd’hui ?',
    ],
    position: [
      'Votre CV mentionne « {quote} ». Lesquelles de vos tâches y étaient les plus proches de ce poste ?',
      'Votre CV mentionne « {quote} ». Qu’y avez-vous appris qui vous sert aujourd’hui ?',
    ],
    skill: 'Votre CV indique : « {quote} ». Quel rôle « {skill} » y a-t-il joué ?',
    missing:
      'Votre CV ne mentionne pas « {skill} », que ce poste demande. Où en avez-vous eu besoin jusqu’à présent, le cas échéant ?',
  },

  general: {
    introduction: [
      'Sur quoi avez-vous travaillé ces douze derniers mois ?',
      'Quel a été votre chemin jusqu’au travail que vous faites aujourd’hui ?',
      'À quoi ressemble une journée de travail ordinaire pour vous ?',
      'De quel travail tirez-vous le plus de fierté, et pourquoi ?',
      'De quoi aviez-vous la responsabilité dans votre dernier poste ?',
      'Avec qui travaillez-vous le plus étroitement, et sur quoi ?',
      'Que devrions-nous savoir d’autre sur vous ?',
    ],
    technical: [
      'junior, mid: Comment vous y prenez-vous quand vous devez apprendre quelque chose de nouveau pour votre travail ?',
      'senior, lead: Laquelle de vos décisions au travail a eu le plus d’effet, et comment l’avez-vous prise ?',
      'senior, lead: Comment décidez-vous de ce qui est assez bon ?',
      'Quelles sont les erreurs les plus fréquentes dans votre métier, et comment les évitez-vous ?',
      'Expliquez avec des mots simples quelque chose de compliqué de votre travail.',
      'Comment cherchez-vous la cause d’un problème ?',
      'Quels outils utilisez-vous chaque jour, et pour quoi faire ?',
      'Comment tenez-vous vos connaissances à jour ?',
      'Quelles règles ou normes comptent le plus dans votre travail, et pourquoi ?',
      'Qu’est-ce qui a le plus changé dans votre métier ces dernières années ?',
    ],
    behavioral: [
      'lead: Parlez-nous d’une personne que vous avez aidée à progresser. Qu’avez-vous fait ?',
      'lead: Parlez-nous d’une de vos décisions qui n’a pas plu à votre équipe. Comment l’avez-vous gérée ?',
      'senior: Parlez-nous d’une fois où vous avez fait changer d’avis quelqu’un qui avait plus de pouvoir que vous.',
      'junior: Parlez-nous de quelque chose que vous avez appris d’un ou d’une collègue.',
      'Parlez-nous d’un problème difficile que vous avez résolu. Comment avez-vous procédé ?',
      'Parlez-nous d’un désaccord dans une équipe. Comment s’est-il terminé ?',
      'Parlez-nous d’une erreur que vous avez faite. Comment avez-vous réagi ?',
      'Parlez-nous d’une remarque qui a changé votre manière de travailler.',
      'Parlez-nous d’une fois où vous avez dû changer vite de plan.',
      'Parlez-nous d’une décision que vous avez prise avec trop peu d’informations.',
      'Parlez-nous d’un objectif que vous n’avez pas atteint. Qu’en avez-vous appris ?',
      'Quand avez-vous aidé pour la dernière fois quelqu’un à réussir, et comment ?',
      'Quand avez-vous pris en charge quelque chose que personne ne vous avait demandé ?',
      'Quand avez-vous dit non au travail ? Que s’est-il passé ?',
    ],
    situational: [
      'lead: La moitié de votre équipe tombe malade pendant une semaine. Comment tenez-vous ce qui a été promis ?',
      'lead: Deux bonnes personnes de votre équipe ne se parlent plus. Que faites-vous ?',
      'senior: Vous reprenez un travail qui a pris beaucoup de retard. Quels sont vos premiers pas ?',
      'junior: Vous ne savez plus comment avancer, et personne n’a le temps de vous aider. Que faites-vous ?',
      'Deux tâches urgentes arrivent en même temps. Comment décidez-vous laquelle passe en premier ?',
      'Vous remarquez que vous ne finirez pas à temps. Que faites-vous, et quand ?',
      'On vous confie une tâche peu claire. Quels sont vos premiers pas ?',
      'Quelqu’un est en colère contre vous. Que répondez-vous ?',
      'Vous trouvez une erreur grave dans un travail déjà terminé. Que faites-vous ?',
      'Votre responsable vous demande quelque chose que vous croyez faux. Que faites-vous ?',
      'On vous pose une question à laquelle vous ne savez pas répondre. Que dites-vous ?',
      'Quelqu’un dans l’équipe fait toujours la même erreur. Que faites-vous ?',
      'Quelqu’un dans l’équipe veut faire une tâche autrement que vous. Comment vous mettez-vous d’accord ?',
      'Votre premier jour, personne n’a le temps de tout vous montrer. Que faites-vous ?',
    ],
    motivation: [
      'Pourquoi voulez-vous ce poste ?',
      'Qu’attendez-vous de vos trois premiers mois chez nous ?',
      'À quoi ressemble pour vous une bonne journée de travail ?',
      'Qu’est-ce qui fait une équipe dans laquelle vous aimez travailler ?',
      'Que voudriez-vous mieux savoir faire dans un an qu’aujourd’hui ?',
      'Quel genre de travail vous coûte le plus, et comment y arrivez-vous ?',
      'Lesquelles de vos tâches actuelles voulez-vous garder, et lesquelles non ?',
      'Qu’attendez-vous de votre responsable ?',
      'Quelles questions avez-vous pour nous ?',
    ],
  },

  doings: [
    'planifiez votre travail',
    'vérifiez votre propre travail',
    'expliquez quelque chose de difficile à quelqu’un',
    'remettez un travail à quelqu’un',
    'reprenez le travail de quelqu’un',
    'résolvez un problème',
    'décidez de ce qui passe en premier',
    'aidez un ou une collègue',
    'travaillez avec d’autres services',
    'écrivez quelque chose pour les autres',
    'prenez une décision en groupe',
    'estimez combien de temps il faut',
    'faites une remarque à quelqu’un',
    'commencez une nouvelle tâche',
  ],

  aboutDoing: {
    introduction: [
      'Qu’est-ce qui, dans votre expérience, vous aide le plus quand vous {doing} ?',
      'Qu’est-ce qui est typique de la manière dont vous {doing} ?',
      'Qu’avez-vous appris des autres qui vous sert quand vous {doing} ?',
    ],
    technical: [
      'À quoi faites-vous le plus attention quand vous {doing} ?',
      'Que cherchez-vous à éviter quand vous {doing} ?',
      'Décrivez comment vous {doing}.',
    ],
    behavioral: [
      'Que faites-vous aujourd’hui autrement qu’avant quand vous {doing} ?',
      'Qu’est-ce que les autres apprécient chez vous quand vous {doing} ?',
      'Qu’est-ce qui est difficile pour vous quand vous {doing} ? Donnez un exemple.',
    ],
    situational: [
      'Supposons que le temps vous manque quand vous {doing}. Que faites-vous ?',
      'Supposons que quelqu’un critique la manière dont vous {doing}. Que faites-vous ?',
      'Une nouvelle personne dans l’équipe veut savoir comment vous {doing}. Que dites-vous ?',
    ],
    motivation: [
      'Qu’est-ce qui vous plaît quand vous {doing} ?',
      'Qu’est-ce qui vous demande le plus d’effort quand vous {doing} ?',
      'Que voudriez-vous changer à la manière dont vous {doing} ?',
    ],
  },
};

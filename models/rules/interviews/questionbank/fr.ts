/** Questions in French. Pure data; see bank.ts. */
import { all, of, type Bank } from './bank.ts';

export const fr: Bank = {
  opening: 'Présentez-vous, s’il vous plaît. Laquelle de vos expériences compte le plus pour le poste {role} ?',
  aboutSkill: {
    introduction: all('Où avez-vous utilisé {skill} jusqu’à présent ?'),
    technical: [
      ...of(
        ['junior'],
        'Qu’avez-vous déjà réalisé avec {skill}, et quelle a été votre propre part ?',
        'Qu’est-ce qui vous a semblé le plus difficile dans {skill}, et comment l’avez-vous appris ?',
        'Quelque chose ne fonctionne pas avec {skill}. Comment trouvez-vous pourquoi ?',
      ),
      ...of(
        ['mid'],
        'Décrivez un projet dans lequel vous avez utilisé {skill}. Qu’avez-vous fait vous-même ?',
        'Quel a été le problème le plus difficile que vous ayez résolu avec {skill}, et comment ?',
        'Comment vous assurez-vous que votre travail avec {skill} est juste ?',
      ),
      ...of(
        ['senior'],
        'Quelles sont les limites de {skill}, et que faites-vous quand vous les atteignez ?',
        'Quelle décision sur {skill} prendriez-vous autrement aujourd’hui, et pourquoi ?',
        'Comment jugez-vous si {skill} est le bon choix pour une tâche ?',
      ),
      ...of(
        ['lead'],
        'Comment jugez-vous la qualité du travail des autres avec {skill} ?',
        'Comment décidez-vous si votre équipe utilise {skill}, et qui prend part à cette décision ?',
        'Quelles règles sur {skill} donneriez-vous à une équipe, et comment verriez-vous qu’elles sont suivies ?',
      ),
      ...all('Expliquez {skill} à quelqu’un qui ne l’a jamais utilisé.'),
    ],
    behavioral: [
      ...of(['junior', 'mid'], 'Parlez-nous d’une erreur avec {skill}. Qu’avez-vous changé ensuite ?'),
      ...of(
        ['senior', 'lead'],
        'Quand avez-vous convaincu d’autres personnes d’utiliser {skill} autrement ? Comment ?',
      ),
    ],
    situational: [
      ...of(
        ['junior', 'mid'],
        'On vous confie une tâche avec {skill} que vous n’avez jamais faite. Par où commencez-vous ?',
      ),
      ...of(
        ['senior', 'lead'],
        'Quelqu’un dans l’équipe débute avec {skill}. Qu’enseignez-vous d’abord, et pourquoi ?',
      ),
    ],
    motivation: all('Qu’aimez-vous dans le travail avec {skill}, et que n’aimez-vous pas ?'),
  },
  aboutCriterion: [
    ...all(
      'Donnez un exemple tiré de votre travail sur le thème « {criterion} ».',
      'Quelle situation au travail vous a le plus demandé sur le thème « {criterion} » ? Qu’avez-vous fait ?',
      'Que dirait de vous votre dernière équipe sur le thème « {criterion} », et pourquoi ?',
      'Sur le thème « {criterion} », en quoi voulez-vous progresser, et comment ?',
    ),
    ...of(['senior', 'lead'], 'Comment aidez-vous les autres à progresser sur le thème « {criterion} » ?'),
  ],
  aboutQuote: {
    achievement: [
      'Votre CV indique : « {quote} ». Quelle a été votre propre part ?',
      'Votre CV indique : « {quote} ». Comment avez-vous procédé, et comment avez-vous su que cela marchait ?',
      'Votre CV indique : « {quote} ». Que feriez-vous autrement aujourd’hui ?',
    ],
    position: [
      'Votre CV mentionne « {quote} ». Lesquelles de vos tâches y étaient les plus proches du poste {role} ?',
      'Votre CV mentionne « {quote} ». Qu’y avez-vous appris qui vous sert aujourd’hui ?',
    ],
    skill: 'Votre CV indique : « {quote} ». Comment y avez-vous utilisé {skill} ?',
    missing: 'Votre CV ne mentionne pas {skill}, dont ce poste a besoin. Par où commenceriez-vous ?',
  },
  general: {
    introduction: all(
      'Sur quoi avez-vous travaillé ces douze derniers mois ?',
      'Laquelle de vos tâches vous a le mieux préparé au poste {role} ?',
      'Par quel chemin êtes-vous arrivé ou arrivée au travail que vous faites aujourd’hui ?',
      'De quel travail tirez-vous le plus de fierté, et pourquoi ?',
      'À quoi ressemble une journée de travail ordinaire pour vous ?',
    ),
    technical: [
      ...of(
        ['junior', 'mid'],
        'Comment apprenez-vous ce dont votre travail a besoin et que vous ne connaissez pas encore ?',
        'Comment vérifiez-vous la qualité de votre travail avant que d’autres le voient ?',
        'Quels outils utilisez-vous chaque jour, et pourquoi ceux-là ?',
      ),
      ...of(
        ['senior', 'lead'],
        'Laquelle de vos décisions techniques a eu le plus d’effet, et comment y êtes-vous arrivé ?',
        'Comment gardez-vous un système simple pendant qu’il grandit ?',
        'Comment décidez-vous de ce qui est assez bon ?',
      ),
      ...all(
        'Expliquez avec des mots simples quelque chose de compliqué de votre travail.',
        'Comment trouvez-vous la cause d’un problème qui n’apparaît que parfois ?',
        'Que faites-vous dans votre travail pour protéger les données des autres ?',
        'Comment savez-vous qu’une tâche est terminée ?',
      ),
    ],
    behavioral: [
      ...of(
        ['lead'],
        'Parlez-nous d’une personne que vous avez aidée à progresser. Qu’avez-vous fait ?',
        'Décrivez une de vos décisions qui n’a pas plu à votre équipe. Comment l’avez-vous gérée ?',
      ),
      ...of(['senior'], 'Quand avez-vous fait changer d’avis quelqu’un qui avait plus de pouvoir que vous ? Comment ?'),
      ...of(['junior'], 'Parlez-nous de quelque chose que vous avez appris d’un ou d’une collègue.'),
      ...all(
        'De quel résultat de votre travail tirez-vous de la fierté, et quelle a été votre part ?',
        'Parlez-nous d’un désaccord dans une équipe. Comment s’est-il terminé ?',
        'Décrivez un retour qui a changé votre manière de travailler.',
        'Parlez-nous d’une décision que vous avez prise avec trop peu d’informations.',
        'Quand avez-vous aidé pour la dernière fois quelqu’un à réussir ? Comment ?',
        'Décrivez un objectif que vous n’avez pas atteint. Qu’en avez-vous appris ?',
        'Parlez-nous d’une fois où vous avez dû changer vite de plan.',
        'Quand avez-vous pris en charge quelque chose que personne ne vous avait demandé ?',
        'Quand avez-vous dit non au travail ? Que s’est-il passé ?',
      ),
    ],
    situational: [
      ...of(
        ['lead'],
        'La moitié de votre équipe est malade pendant une semaine. Comment tenez-vous ce qui était promis ?',
        'Deux bonnes personnes de votre équipe ne se parlent plus. Que faites-vous ?',
      ),
      ...of(['senior'], 'Vous reprenez un projet qui a trois mois de retard. Quels sont vos premiers pas ?'),
      ...of(['junior'], 'Vous n’avancez plus, et tous ceux qui pourraient aider sont occupés. Que faites-vous ?'),
      ...all(
        'Deux tâches urgentes arrivent en même temps. Comment décidez-vous de la première ?',
        'Vous voyez qu’une date ne pourra pas être tenue. Que faites-vous, et quand ?',
        'On vous confie une tâche peu claire. Quels sont vos premiers pas ?',
        'Un client ou une collègue est en colère contre vous. Comment répondez-vous ?',
        'Vous trouvez une erreur grave dans un travail déjà livré. Que faites-vous ?',
        'Votre responsable demande quelque chose que vous croyez faux. Que faites-vous ?',
        'Vous reprenez le travail de quelqu’un qui est parti. Par où commencez-vous ?',
        'On vous demande en public quelque chose à quoi vous ne savez pas répondre. Que dites-vous ?',
      ),
    ],
    motivation: all(
      'Pourquoi souhaitez-vous le poste {role} ?',
      'Qu’attendez-vous de vos trois premiers mois au poste {role} ?',
      'Quel genre de travail vous coûte le plus, et comment le faites-vous quand même ?',
      'Qu’est-ce qui fait une équipe dans laquelle vous aimez travailler ?',
      'En quoi voulez-vous avoir progressé dans un an ?',
      'Lesquelles de vos anciennes tâches voulez-vous garder, et lesquelles non ?',
      'Quelle question sur le poste {role} avez-vous pour nous ?',
    ),
  },
  aspects: [
    'planifier un travail',
    'tester son propre travail',
    'documenter pour les autres',
    'protéger des données',
    'estimer une charge de travail',
    'trouver la cause d’un défaut',
    'relire le travail des autres',
    'transmettre un travail',
    'travailler avec ce que d’autres ont laissé',
    'mesurer des résultats',
    'automatiser un travail répétitif',
    'garder la qualité quand le temps manque',
    'apprendre un nouvel outil',
    'travailler avec d’autres services',
    'décider en groupe',
    'expliquer son travail aux autres',
  ],
  aboutAspect: {
    introduction: [
      'Quelle expérience avez-vous sur le thème « {aspect} » ?',
      'Où avez-vous appris à faire ceci : « {aspect} » ?',
      'Quelle part de votre travail a été « {aspect} » jusqu’à présent ?',
    ],
    technical: [
      'Au poste {role}, comment vous y prenez-vous sur le thème « {aspect} » ?',
      'Quels outils ou méthodes utilisez-vous sur le thème « {aspect} », et pourquoi ?',
      'Quel conseil sur le thème « {aspect} » donneriez-vous à une nouvelle personne dans l’équipe ?',
    ],
    behavioral: [
      'Parlez-nous d’une fois où il était difficile de faire ceci : « {aspect} ». Qu’avez-vous fait ?',
      'Sur le thème « {aspect} », qu’est-ce qui a changé dans votre manière de faire depuis vos débuts ?',
      'Quand quelqu’un a-t-il profité de votre manière de faire sur le thème « {aspect} » ?',
    ],
    situational: [
      'Supposez que « {aspect} » se passe mal pendant votre premier mois ici. Que faites-vous ?',
      'Votre équipe trouve que « {aspect} » prend trop de temps. Que proposez-vous ?',
      'Vous avez un jour pour « {aspect} », et il en faudrait trois. Que faites-vous ?',
    ],
    motivation: [
      'Qu’aimez-vous sur le thème « {aspect} », et que n’aimez-vous pas ?',
      'Quelle importance « {aspect} » a-t-il pour vous dans votre prochain poste ?',
      'Que voudriez-vous apprendre sur le thème « {aspect} » ?',
    ],
  },
  usualCriteria: ['Communication', 'Résolution de problèmes', 'Connaissance du métier'],
};

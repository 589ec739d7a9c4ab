/** The question templates in French. bank.ts describes the rows. */
import { bankFrom } from './bank.ts';

export const fr = bankFrom(`
opening named | Présentez-vous, s’il vous plaît. Laquelle de vos expériences compte le plus pour le poste « {role} » ?
opening plain | Présentez-vous, s’il vous plaît. Laquelle de vos expériences compte le plus pour ce poste ?
aboutSkill introduction | Ce poste demande « {skill} ». Où en avez-vous eu besoin jusqu’à présent ?
aboutSkill technical | junior: Ce poste demande « {skill} ». Quelle est votre préparation sur ce point ?
aboutSkill technical | mid: Pour nous, « {skill} » compte beaucoup. Que citeriez-vous de votre travail à ce sujet ?
aboutSkill technical | senior: D’après votre expérience, que sous-estime-t-on sur le thème « {skill} » ?
aboutSkill technical | lead: Supposons que vous recrutiez pour ce poste. Comment vérifieriez-vous « {skill} » ?
aboutSkill technical | Ce poste comprend « {skill} ». Qu’apportez-vous, et que vous resterait-il à apprendre ?
aboutSkill behavioral | junior, mid: Ce poste demande « {skill} ». Parlez-nous d’une situation au travail où cela a compté.
aboutSkill behavioral | senior, lead: Ce poste demande « {skill} ». Parlez-nous d’une situation au travail où beaucoup en dépendait.
aboutCriterion | Nous regardons aussi « {criterion} ». Quel exemple de votre travail nous donneriez-vous ?
aboutCriterion | Que dirait de vous votre dernière équipe sur le thème « {criterion} » ?
aboutQuote achievement | Votre CV indique : « {quote} ». Quelle a été votre propre part ?
aboutQuote achievement | Votre CV indique : « {quote} ». Comment avez-vous procédé, et comment avez-vous su que cela marchait ?
aboutQuote achievement | Votre CV indique : « {quote} ». Que feriez-vous autrement aujourd’hui ?
aboutQuote position | Votre CV mentionne « {quote} ». Lesquelles de vos tâches y étaient les plus proches de ce poste ?
aboutQuote position | Votre CV mentionne « {quote} ». Qu’y avez-vous appris qui vous sert aujourd’hui ?
aboutQuote skill | Votre CV indique : « {quote} ». Quel rôle « {skill} » y a-t-il joué ?
aboutQuote missing | Votre CV ne mentionne pas « {skill} », que ce poste demande. Où en avez-vous eu besoin jusqu’à présent, le cas échéant ?
general introduction | Sur quoi avez-vous travaillé ces douze derniers mois ?
general introduction | Quel a été votre chemin jusqu’au travail que vous faites aujourd’hui ?
general introduction | À quoi ressemble une journée de travail ordinaire pour vous ?
general introduction | De quel travail tirez-vous le plus de fierté, et pourquoi ?
general introduction | De quoi aviez-vous la responsabilité dans votre dernier poste ?
general introduction | Avec qui travaillez-vous le plus étroitement, et sur quoi ?
general introduction | Que devrions-nous savoir d’autre sur vous ?
general technical | junior, mid: Comment vous y prenez-vous quand vous devez apprendre quelque chose de nouveau pour votre travail ?
general technical | senior, lead: Laquelle de vos décisions au travail a eu le plus d’effet, et comment l’avez-vous prise ?
general technical | senior, lead: Comment décidez-vous de ce qui est assez bon ?
general technical | Quelles sont les erreurs les plus fréquentes dans votre métier, et comment les évitez-vous ?
general technical | Expliquez avec des mots simples quelque chose de compliqué de votre travail.
general technical | Comment cherchez-vous la cause d’un problème ?
general technical | Quels outils utilisez-vous chaque jour, et pour quoi faire ?
general technical | Comment tenez-vous vos connaissances à jour ?
general technical | Quelles règles ou normes comptent le plus dans votre travail, et pourquoi ?
general technical | Qu’est-ce qui a le plus changé dans votre métier ces dernières années ?
general behavioral | lead: Parlez-nous d’une personne que vous avez aidée à progresser. Qu’avez-vous fait ?
general behavioral | lead: Parlez-nous d’une de vos décisions qui n’a pas plu à votre équipe. Comment l’avez-vous gérée ?
general behavioral | senior: Parlez-nous d’une fois où vous avez fait changer d’avis quelqu’un qui avait plus de pouvoir que vous.
general behavioral | junior: Parlez-nous de quelque chose que vous avez appris d’un ou d’une collègue.
general behavioral | Parlez-nous d’un problème difficile que vous avez résolu. Comment avez-vous procédé ?
general behavioral | Parlez-nous d’un désaccord dans une équipe. Comment s’est-il terminé ?
general behavioral | Parlez-nous d’une erreur que vous avez faite. Comment avez-vous réagi ?
general behavioral | Parlez-nous d’une remarque qui a changé votre manière de travailler.
general behavioral | Parlez-nous d’une fois où vous avez dû changer vite de plan.
general behavioral | Parlez-nous d’une décision que vous avez prise avec trop peu d’informations.
general behavioral | Parlez-nous d’un objectif que vous n’avez pas atteint. Qu’en avez-vous appris ?
general behavioral | Quand avez-vous aidé pour la dernière fois quelqu’un à réussir, et comment ?
general behavioral | Quand avez-vous pris en charge quelque chose que personne ne vous avait demandé ?
general behavioral | Quand avez-vous dit non au travail ? Que s’est-il passé ?
general situational | lead: La moitié de votre équipe tombe malade pendant une semaine. Comment tenez-vous ce qui a été promis ?
general situational | lead: Deux bonnes personnes de votre équipe ne se parlent plus. Que faites-vous ?
general situational | senior: Vous reprenez un travail qui a pris beaucoup de retard. Quels sont vos premiers pas ?
general situational | junior: Vous ne savez plus comment avancer, et personne n’a le temps de vous aider. Que faites-vous ?
general situational | Deux tâches urgentes arrivent en même temps. Comment décidez-vous laquelle passe en premier ?
general situational | Vous remarquez que vous ne finirez pas à temps. Que faites-vous, et quand ?
general situational | On vous confie une tâche peu claire. Quels sont vos premiers pas ?
general situational | Quelqu’un est en colère contre vous. Que répondez-vous ?
general situational | Vous trouvez une erreur grave dans un travail déjà terminé. Que faites-vous ?
general situational | Votre responsable vous demande quelque chose que vous croyez faux. Que faites-vous ?
general situational | On vous pose une question à laquelle vous ne savez pas répondre. Que dites-vous ?
general situational | Quelqu’un dans l’équipe fait toujours la même erreur. Que faites-vous ?
general situational | Quelqu’un dans l’équipe veut faire une tâche autrement que vous. Comment vous mettez-vous d’accord ?
general situational | Votre premier jour, personne n’a le temps de tout vous montrer. Que faites-vous ?
general motivation | Pourquoi voulez-vous ce poste ?
general motivation | Qu’attendez-vous de vos trois premiers mois chez nous ?
general motivation | À quoi ressemble pour vous une bonne journée de travail ?
general motivation | Qu’est-ce qui fait une équipe dans laquelle vous aimez travailler ?
general motivation | Que voudriez-vous mieux savoir faire dans un an qu’aujourd’hui ?
general motivation | Quel genre de travail vous coûte le plus, et comment y arrivez-vous ?
general motivation | Lesquelles de vos tâches actuelles voulez-vous garder, et lesquelles non ?
general motivation | Qu’attendez-vous de votre responsable ?
general motivation | Quelles questions avez-vous pour nous ?
doings | planifiez votre travail
doings | vérifiez votre propre travail
doings | expliquez quelque chose de difficile à quelqu’un
doings | remettez un travail à quelqu’un
doings | reprenez le travail de quelqu’un
doings | résolvez un problème
doings | décidez de ce qui passe en premier
doings | aidez un ou une collègue
doings | travaillez avec d’autres services
doings | écrivez quelque chose pour les autres
doings | prenez une décision en groupe
doings | estimez combien de temps il faut
doings | faites une remarque à quelqu’un
doings | commencez une nouvelle tâche
aboutDoing introduction | Qu’est-ce qui, dans votre expérience, vous aide le plus quand vous {doing} ?
aboutDoing introduction | Qu’est-ce qui est typique de la manière dont vous {doing} ?
aboutDoing introduction | Qu’avez-vous appris des autres qui vous sert quand vous {doing} ?
aboutDoing technical | À quoi faites-vous le plus attention quand vous {doing} ?
aboutDoing technical | Que cherchez-vous à éviter quand vous {doing} ?
aboutDoing technical | Décrivez comment vous {doing}.
aboutDoing behavioral | Que faites-vous aujourd’hui autrement qu’avant quand vous {doing} ?
aboutDoing behavioral | Qu’est-ce que les autres apprécient chez vous quand vous {doing} ?
aboutDoing behavioral | Qu’est-ce qui est difficile pour vous quand vous {doing} ? Donnez un exemple.
aboutDoing situational | Supposons que le temps vous manque quand vous {doing}. Que faites-vous ?
aboutDoing situational | Supposons que quelqu’un critique la manière dont vous {doing}. Que faites-vous ?
aboutDoing situational | Une nouvelle personne dans l’équipe veut savoir comment vous {doing}. Que dites-vous ?
aboutDoing motivation | Qu’est-ce qui vous plaît quand vous {doing} ?
aboutDoing motivation | Qu’est-ce qui vous demande le plus d’effort quand vous {doing} ?
aboutDoing motivation | Que voudriez-vous changer à la manière dont vous {doing} ?
`);

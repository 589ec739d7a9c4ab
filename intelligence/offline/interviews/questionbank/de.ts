/** The question templates in German. bank.ts describes the fields. */
import type { Bank } from './bank.ts';

export const de: Bank = {
  opening: {
    named: 'Bitte stellen Sie sich vor. Welche Ihrer Erfahrungen ist für die Stelle als {role} am wichtigsten?',
    plain: 'Bitte stellen Sie sich vor. Welche Ihrer Erfahrungen ist für diese Stelle am wichtigsten?',
  },

  aboutSkill: {
    introduction: ['Für diese Stelle ist „{skill}“ gefragt. Wo haben Sie das bisher gebraucht?'],
    technical: [
      'junior: Für diese Stelle ist „{skill}“ gefragt. Wie gut fühlen Sie sich darauf vorbereitet, und warum?',
      'mid: Uns ist „{skill}“ wichtig. Was aus Ihrer bisherigen Arbeit würden Sie dazu nennen?',
      'senior: Was wird Ihrer Erfahrung nach beim Thema „{skill}“ unterschätzt?',
      'lead: Angenommen, Sie stellen selbst jemanden für diese Stelle ein. Wie würden Sie „{skill}“ prüfen?',
      'Zu dieser Stelle gehört „{skill}“. Was bringen Sie dazu mit, und was müssten Sie noch lernen?',
    ],
    behavioral: [
      'junior, mid: Für diese Stelle ist „{skill}“ gefragt. Erzählen Sie von einer Situation bei der Arbeit, in der es darauf ankam.',
      'senior, lead: Für diese Stelle ist „{skill}“ gefragt. Erzählen Sie von einer Situation bei der Arbeit, in der viel davon abhing.',
    ],
  },

  aboutCriterion: [
    'Wir achten auch auf „{criterion}“. Welches Beispiel aus Ihrer Arbeit würden Sie uns dazu nennen?',
    'Was würde Ihr letztes Team zum Thema „{criterion}“ über Sie sagen?',
  ],

  aboutQuote: {
    achievement: [
      'In Ihrem Lebenslauf steht: „{quote}“. Was war Ihr eigener Anteil daran?',
      'In Ihrem Lebenslauf steht: „{quote}“. Wie sind Sie vorgegangen, und woran haben Sie den Erfolg gesehen?',
      'In Ihrem Lebenslauf steht: „{quote}“. Was würden Sie heute anders machen?',
    ],
    position: [
      'In Ihrem Lebenslauf steht: „{quote}“. Welche Ihrer Aufgaben dort kommen dieser Stelle am nächsten?',
      'In Ihrem Lebenslauf steht: „{quote}“. Was haben Sie dort gelernt, das Sie heute nutzen?',
    ],
    skill: 'In Ihrem Lebenslauf steht: „{quote}“. Welche Rolle spielte „{skill}“ dabei?',
    missing:
      'In Ihrem Lebenslauf steht nichts zu „{skill}“, und für diese Stelle ist das gefragt. Wo haben Sie es bisher gebraucht, falls überhaupt?',
  },

  general: {
    introduction: [
      'Woran haben Sie in den letzten zwölf Monaten gearbeitet?',
      'Wie sind Sie zu der Arbeit gekommen, die Sie heute machen?',
      'Wie sieht ein gewöhnlicher Arbeitstag bei Ihnen aus?',
      'Auf welche Arbeit sind Sie am meisten stolz, und warum?',
      'Wofür waren Sie auf Ihrer letzten Stelle verantwortlich?',
      'Mit wem arbeiten Sie am engsten zusammen, und woran?',
      'Was sollten wir sonst noch über Sie wissen?',
    ],
    technical: [
      'junior, mid: Wie gehen Sie vor, wenn Sie für Ihre Arbeit etwas Neues lernen müssen?',
      'senior, lead: Welche Entscheidung bei Ihrer Arbeit hatte die größte Wirkung, und wie kamen Sie dazu?',
      'senior, lead: Wie entscheiden Sie, was gut genug ist?',
      'Welche Fehler passieren in Ihrem Beruf am häufigsten, und wie vermeiden Sie sie?',
      'Bitte erklären Sie etwas Kompliziertes aus Ihrer Arbeit in einfachen Worten.',
      'Wie gehen Sie vor, wenn Sie die Ursache eines Problems suchen?',
      'Welche Werkzeuge nutzen Sie jeden Tag, und wofür?',
      'Wie halten Sie Ihr Wissen auf dem neuesten Stand?',
      'Welche Regeln oder Normen sind bei Ihrer Arbeit am wichtigsten, und warum?',
      'Was hat sich in Ihrem Beruf in den letzten Jahren am meisten verändert?',
    ],
    behavioral: [
      'lead: Erzählen Sie von einer Person, der Sie geholfen haben, sich zu entwickeln. Was haben Sie getan?',
      'lead: Erzählen Sie von einer Ihrer Entscheidungen, die Ihrem Team nicht gefiel. Wie sind Sie damit umgegangen?',
      'senior: Erzählen Sie, wie Sie einmal jemanden umgestimmt haben, der mehr zu sagen hatte als Sie.',
      'junior: Erzählen Sie von etwas, das Sie von einer Kollegin oder einem Kollegen gelernt haben.',
      'Erzählen Sie von einem schwierigen Problem, das Sie gelöst haben. Wie sind Sie vorgegangen?',
      'Erzählen Sie von einer Meinungsverschiedenheit im Team. Wie ging sie aus?',
      'Erzählen Sie von einem Fehler, der Ihnen passiert ist. Was haben Sie dann getan?',
      'Erzählen Sie von einer Rückmeldung, die Ihre Arbeitsweise verändert hat.',
      'Erzählen Sie von einer Situation, in der Sie Ihre Pläne schnell ändern mussten.',
      'Erzählen Sie von einer Entscheidung, die Sie mit zu wenig Informationen getroffen haben.',
      'Erzählen Sie von einem Ziel, das Sie nicht erreicht haben. Was haben Sie daraus gelernt?',
      'Wann haben Sie zuletzt jemand anderem zum Erfolg verholfen, und wie?',
      'Wann haben Sie etwas übernommen, um das niemand Sie gebeten hatte?',
      'Wann haben Sie bei der Arbeit Nein gesagt? Was geschah dann?',
    ],
    situational: [
      'lead: Die Hälfte Ihres Teams fällt eine Woche lang aus. Wie halten Sie ein, was zugesagt war?',
      'lead: Zwei gute Leute in Ihrem Team sprechen nicht mehr miteinander. Was tun Sie?',
      'senior: Sie übernehmen eine Arbeit, die weit im Verzug ist. Was sind Ihre ersten Schritte?',
      'junior: Sie kommen nicht weiter, und alle, die helfen könnten, sind beschäftigt. Was tun Sie?',
      'Zwei dringende Aufgaben kommen gleichzeitig. Wie entscheiden Sie, welche zuerst drankommt?',
      'Sie merken, dass Sie nicht rechtzeitig fertig werden. Was tun Sie, und wann?',
      'Sie bekommen eine unklare Aufgabe. Was sind Ihre ersten Schritte?',
      'Jemand ist wütend auf Sie. Wie antworten Sie?',
      'Sie finden einen schweren Fehler in einer Arbeit, die schon fertig ist. Was tun Sie?',
      'Ihre Führungskraft verlangt etwas, das Sie für falsch halten. Was tun Sie?',
      'Jemand fragt Sie etwas, das Sie nicht beantworten können. Was sagen Sie?',
      'Jemand im Team macht immer wieder denselben Fehler. Was tun Sie?',
      'Sie und jemand aus dem Team wollen dieselbe Aufgabe verschieden angehen. Wie einigen Sie sich?',
      'An Ihrem ersten Tag hat niemand Zeit, Ihnen alles zu zeigen. Was tun Sie?',
    ],
    motivation: [
      'Warum möchten Sie diese Stelle?',
      'Was erwarten Sie von Ihren ersten drei Monaten bei uns?',
      'Wie sieht für Sie ein guter Arbeitstag aus?',
      'Was macht ein Team aus, in dem Sie gern arbeiten?',
      'Was möchten Sie in einem Jahr besser können als heute?',
      'Welche Art von Arbeit fällt Ihnen am schwersten, und wie schaffen Sie sie trotzdem?',
      'Welche Ihrer jetzigen Aufgaben möchten Sie behalten, und welche nicht?',
      'Was erwarten Sie von einer Führungskraft?',
      'Welche Fragen haben Sie an uns?',
    ],
  },

  doings: [
    'Ihre Arbeit planen',
    'Ihre eigene Arbeit prüfen',
    'jemandem etwas Schwieriges erklären',
    'Arbeit an jemanden übergeben',
    'Arbeit von jemandem übernehmen',
    'ein Problem lösen',
    'entscheiden, was zuerst drankommt',
    'jemandem im Team helfen',
    'mit anderen Abteilungen arbeiten',
    'etwas für andere aufschreiben',
    'etwas in der Gruppe entscheiden',
    'schätzen, wie lange etwas dauert',
    'jemandem Rückmeldung geben',
    'eine neue Aufgabe beginnen',
  ],

  aboutDoing: {
    introduction: [
      'Was aus Ihrer bisherigen Erfahrung hilft Ihnen am meisten, wenn Sie {doing}?',
      'Was ist typisch dafür, wie Sie {doing}?',
      'Was haben Sie von anderen gelernt, das Sie nutzen, wenn Sie {doing}?',
    ],
    technical: [
      'Worauf achten Sie am meisten, wenn Sie {doing}?',
      'Was versuchen Sie zu vermeiden, wenn Sie {doing}?',
      'Bitte beschreiben Sie, wie Sie {doing}.',
    ],
    behavioral: [
      'Was machen Sie heute anders als früher, wenn Sie {doing}?',
      'Was schätzen andere an Ihnen, wenn Sie {doing}?',
      'Was fällt Ihnen schwer, wenn Sie {doing}? Bitte nennen Sie ein Beispiel.',
    ],
    situational: [
      'Angenommen, die Zeit ist knapp, wenn Sie {doing}. Was tun Sie?',
      'Angenommen, jemand beschwert sich darüber, wie Sie {doing}. Was tun Sie?',
      'Jemand Neues im Team möchte wissen, wie Sie {doing}. Was sagen Sie?',
    ],
    motivation: [
      'Was macht Ihnen Freude, wenn Sie {doing}?',
      'Was kostet Sie am meisten Mühe, wenn Sie {doing}?',
      'Was möchten Sie daran ändern, wie Sie {doing}?',
    ],
  },
};

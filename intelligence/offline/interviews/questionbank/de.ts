/** The question templates in German. bank.ts describes the rows. */
import { bankFrom } from './bank.ts';

export const de = bankFrom(`
opening named | Bitte stellen Sie sich vor. Welche Ihrer Erfahrungen ist für die Stelle als {role} am wichtigsten?
opening plain | Bitte stellen Sie sich vor. Welche Ihrer Erfahrungen ist für diese Stelle am wichtigsten?
aboutSkill introduction | Für diese Stelle ist „{skill}“ gefragt. Wo haben Sie das bisher gebraucht?
aboutSkill technical | junior: Für diese Stelle ist „{skill}“ gefragt. Wie gut fühlen Sie sich darauf vorbereitet, und warum?
aboutSkill technical | mid: Uns ist „{skill}“ wichtig. Was aus Ihrer bisherigen Arbeit würden Sie dazu nennen?
aboutSkill technical | senior: Was wird Ihrer Erfahrung nach beim Thema „{skill}“ unterschätzt?
aboutSkill technical | lead: Angenommen, Sie stellen selbst jemanden für diese Stelle ein. Wie würden Sie „{skill}“ prüfen?
aboutSkill technical | Zu dieser Stelle gehört „{skill}“. Was bringen Sie dazu mit, und was müssten Sie noch lernen?
aboutSkill behavioral | junior, mid: Für diese Stelle ist „{skill}“ gefragt. Erzählen Sie von einer Situation bei der Arbeit, in der es darauf ankam.
aboutSkill behavioral | senior, lead: Für diese Stelle ist „{skill}“ gefragt. Erzählen Sie von einer Situation bei der Arbeit, in der viel davon abhing.
aboutCriterion | Wir achten auch auf „{criterion}“. Welches Beispiel aus Ihrer Arbeit würden Sie uns dazu nennen?
aboutCriterion | Was würde Ihr letztes Team zum Thema „{criterion}“ über Sie sagen?
aboutQuote achievement | In Ihrem Lebenslauf steht: „{quote}“. Was war Ihr eigener Anteil daran?
aboutQuote achievement | In Ihrem Lebenslauf steht: „{quote}“. Wie sind Sie vorgegangen, und woran haben Sie den Erfolg gesehen?
aboutQuote achievement | In Ihrem Lebenslauf steht: „{quote}“. Was würden Sie heute anders machen?
aboutQuote position | In Ihrem Lebenslauf steht: „{quote}“. Welche Ihrer Aufgaben dort kommen dieser Stelle am nächsten?
aboutQuote position | In Ihrem Lebenslauf steht: „{quote}“. Was haben Sie dort gelernt, das Sie heute nutzen?
aboutQuote skill | In Ihrem Lebenslauf steht: „{quote}“. Welche Rolle spielte „{skill}“ dabei?
aboutQuote missing | In Ihrem Lebenslauf steht nichts zu „{skill}“, und für diese Stelle ist das gefragt. Wo haben Sie es bisher gebraucht, falls überhaupt?
general introduction | Woran haben Sie in den letzten zwölf Monaten gearbeitet?
general introduction | Wie sind Sie zu der Arbeit gekommen, die Sie heute machen?
general introduction | Wie sieht ein gewöhnlicher Arbeitstag bei Ihnen aus?
general introduction | Auf welche Arbeit sind Sie am meisten stolz, und warum?
general introduction | Wofür waren Sie auf Ihrer letzten Stelle verantwortlich?
general introduction | Mit wem arbeiten Sie am engsten zusammen, und woran?
general introduction | Was sollten wir sonst noch über Sie wissen?
general technical | junior, mid: Wie gehen Sie vor, wenn Sie für Ihre Arbeit etwas Neues lernen müssen?
general technical | senior, lead: Welche Entscheidung bei Ihrer Arbeit hatte die größte Wirkung, und wie kamen Sie dazu?
general technical | senior, lead: Wie entscheiden Sie, was gut genug ist?
general technical | Welche Fehler passieren in Ihrem Beruf am häufigsten, und wie vermeiden Sie sie?
general technical | Bitte erklären Sie etwas Kompliziertes aus Ihrer Arbeit in einfachen Worten.
general technical | Wie gehen Sie vor, wenn Sie die Ursache eines Problems suchen?
general technical | Welche Werkzeuge nutzen Sie jeden Tag, und wofür?
general technical | Wie halten Sie Ihr Wissen auf dem neuesten Stand?
general technical | Welche Regeln oder Normen sind bei Ihrer Arbeit am wichtigsten, und warum?
general technical | Was hat sich in Ihrem Beruf in den letzten Jahren am meisten verändert?
general behavioral | lead: Erzählen Sie von einer Person, der Sie geholfen haben, sich zu entwickeln. Was haben Sie getan?
general behavioral | lead: Erzählen Sie von einer Ihrer Entscheidungen, die Ihrem Team nicht gefiel. Wie sind Sie damit umgegangen?
general behavioral | senior: Erzählen Sie, wie Sie einmal jemanden umgestimmt haben, der mehr zu sagen hatte als Sie.
general behavioral | junior: Erzählen Sie von etwas, das Sie von einer Kollegin oder einem Kollegen gelernt haben.
general behavioral | Erzählen Sie von einem schwierigen Problem, das Sie gelöst haben. Wie sind Sie vorgegangen?
general behavioral | Erzählen Sie von einer Meinungsverschiedenheit im Team. Wie ging sie aus?
general behavioral | Erzählen Sie von einem Fehler, der Ihnen passiert ist. Was haben Sie dann getan?
general behavioral | Erzählen Sie von einer Rückmeldung, die Ihre Arbeitsweise verändert hat.
general behavioral | Erzählen Sie von einer Situation, in der Sie Ihre Pläne schnell ändern mussten.
general behavioral | Erzählen Sie von einer Entscheidung, die Sie mit zu wenig Informationen getroffen haben.
general behavioral | Erzählen Sie von einem Ziel, das Sie nicht erreicht haben. Was haben Sie daraus gelernt?
general behavioral | Wann haben Sie zuletzt jemand anderem zum Erfolg verholfen, und wie?
general behavioral | Wann haben Sie etwas übernommen, um das niemand Sie gebeten hatte?
general behavioral | Wann haben Sie bei der Arbeit Nein gesagt? Was geschah dann?
general situational | lead: Die Hälfte Ihres Teams fällt eine Woche lang aus. Wie halten Sie ein, was zugesagt war?
general situational | lead: Zwei gute Leute in Ihrem Team sprechen nicht mehr miteinander. Was tun Sie?
general situational | senior: Sie übernehmen eine Arbeit, die weit im Verzug ist. Was sind Ihre ersten Schritte?
general situational | junior: Sie kommen nicht weiter, und alle, die helfen könnten, sind beschäftigt. Was tun Sie?
general situational | Zwei dringende Aufgaben kommen gleichzeitig. Wie entscheiden Sie, welche zuerst drankommt?
general situational | Sie merken, dass Sie nicht rechtzeitig fertig werden. Was tun Sie, und wann?
general situational | Sie bekommen eine unklare Aufgabe. Was sind Ihre ersten Schritte?
general situational | Jemand ist wütend auf Sie. Wie antworten Sie?
general situational | Sie finden einen schweren Fehler in einer Arbeit, die schon fertig ist. Was tun Sie?
general situational | Ihre Führungskraft verlangt etwas, das Sie für falsch halten. Was tun Sie?
general situational | Jemand fragt Sie etwas, das Sie nicht beantworten können. Was sagen Sie?
general situational | Jemand im Team macht immer wieder denselben Fehler. Was tun Sie?
general situational | Sie und jemand aus dem Team wollen dieselbe Aufgabe verschieden angehen. Wie einigen Sie sich?
general situational | An Ihrem ersten Tag hat niemand Zeit, Ihnen alles zu zeigen. Was tun Sie?
general motivation | Warum möchten Sie diese Stelle?
general motivation | Was erwarten Sie von Ihren ersten drei Monaten bei uns?
general motivation | Wie sieht für Sie ein guter Arbeitstag aus?
general motivation | Was macht ein Team aus, in dem Sie gern arbeiten?
general motivation | Was möchten Sie in einem Jahr besser können als heute?
general motivation | Welche Art von Arbeit fällt Ihnen am schwersten, und wie schaffen Sie sie trotzdem?
general motivation | Welche Ihrer jetzigen Aufgaben möchten Sie behalten, und welche nicht?
general motivation | Was erwarten Sie von einer Führungskraft?
general motivation | Welche Fragen haben Sie an uns?
doings | Ihre Arbeit planen
doings | Ihre eigene Arbeit prüfen
doings | jemandem etwas Schwieriges erklären
doings | Arbeit an jemanden übergeben
doings | Arbeit von jemandem übernehmen
doings | ein Problem lösen
doings | entscheiden, was zuerst drankommt
doings | jemandem im Team helfen
doings | mit anderen Abteilungen arbeiten
doings | etwas für andere aufschreiben
doings | etwas in der Gruppe entscheiden
doings | schätzen, wie lange etwas dauert
doings | jemandem Rückmeldung geben
doings | eine neue Aufgabe beginnen
aboutDoing introduction | Was aus Ihrer bisherigen Erfahrung hilft Ihnen am meisten, wenn Sie {doing}?
aboutDoing introduction | Was ist typisch dafür, wie Sie {doing}?
aboutDoing introduction | Was haben Sie von anderen gelernt, das Sie nutzen, wenn Sie {doing}?
aboutDoing technical | Worauf achten Sie am meisten, wenn Sie {doing}?
aboutDoing technical | Was versuchen Sie zu vermeiden, wenn Sie {doing}?
aboutDoing technical | Bitte beschreiben Sie, wie Sie {doing}.
aboutDoing behavioral | Was machen Sie heute anders als früher, wenn Sie {doing}?
aboutDoing behavioral | Was schätzen andere an Ihnen, wenn Sie {doing}?
aboutDoing behavioral | Was fällt Ihnen schwer, wenn Sie {doing}? Bitte nennen Sie ein Beispiel.
aboutDoing situational | Angenommen, die Zeit ist knapp, wenn Sie {doing}. Was tun Sie?
aboutDoing situational | Angenommen, jemand beschwert sich darüber, wie Sie {doing}. Was tun Sie?
aboutDoing situational | Jemand Neues im Team möchte wissen, wie Sie {doing}. Was sagen Sie?
aboutDoing motivation | Was macht Ihnen Freude, wenn Sie {doing}?
aboutDoing motivation | Was kostet Sie am meisten Mühe, wenn Sie {doing}?
aboutDoing motivation | Was möchten Sie daran ändern, wie Sie {doing}?
`);

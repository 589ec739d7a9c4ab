/** Questions in German. Pure data; see bank.ts. */
import { all, of, type Bank } from './bank.ts';

export const de: Bank = {
  opening: 'Bitte stellen Sie sich vor. Welche Ihrer Erfahrungen ist für die Stelle {role} am wichtigsten?',
  aboutSkill: {
    introduction: all('Wo haben Sie {skill} bisher eingesetzt?'),
    technical: [
      ...of(
        ['junior'],
        'Was haben Sie mit {skill} schon gemacht, und was war dabei Ihr eigener Anteil?',
        'Was fiel Ihnen bei {skill} am schwersten, und wie haben Sie es gelernt?',
        'Etwas mit {skill} funktioniert nicht. Wie finden Sie heraus, warum?',
      ),
      ...of(
        ['mid'],
        'Beschreiben Sie ein Projekt, in dem Sie {skill} eingesetzt haben. Was haben Sie selbst getan?',
        'Welches Problem mit {skill} war das schwierigste, das Sie gelöst haben, und wie haben Sie es gelöst?',
        'Wie stellen Sie sicher, dass Ihre Arbeit mit {skill} stimmt?',
      ),
      ...of(
        ['senior'],
        'Wo liegen die Grenzen von {skill}, und was tun Sie, wenn Sie sie erreichen?',
        'Welche Entscheidung zu {skill} würden Sie heute anders treffen, und warum?',
        'Woran erkennen Sie, ob {skill} für eine Aufgabe das Richtige ist?',
      ),
      ...of(
        ['lead'],
        'Wie beurteilen Sie die Qualität der Arbeit anderer mit {skill}?',
        'Wie entscheiden Sie, ob Ihr Team {skill} einsetzt, und wer ist an dieser Entscheidung beteiligt?',
        'Welche Regeln für {skill} würden Sie einem Team geben, und wie sehen Sie, dass sie eingehalten werden?',
      ),
      ...all('Erklären Sie {skill} jemandem, der noch nie damit gearbeitet hat.'),
    ],
    behavioral: [
      ...of(['junior', 'mid'], 'Erzählen Sie von einem Fehler mit {skill}. Was haben Sie danach geändert?'),
      ...of(['senior', 'lead'], 'Wann haben Sie andere überzeugt, {skill} anders einzusetzen? Wie?'),
    ],
    situational: [
      ...of(['junior', 'mid'], 'Sie bekommen eine Aufgabe mit {skill}, die Sie noch nie hatten. Wie fangen Sie an?'),
      ...of(['senior', 'lead'], 'Jemand im Team lernt {skill} gerade erst. Was bringen Sie zuerst bei, und warum?'),
    ],
    motivation: all('Was mögen Sie an der Arbeit mit {skill}, und was nicht?'),
  },
  aboutCriterion: [
    ...all(
      'Nennen Sie ein Beispiel aus Ihrer Arbeit zum Thema „{criterion}“.',
      'Welche Situation bei der Arbeit hat Sie beim Thema „{criterion}“ am meisten gefordert? Was haben Sie getan?',
      'Was würde Ihr letztes Team zum Thema „{criterion}“ über Sie sagen, und warum?',
      'Worin möchten Sie beim Thema „{criterion}“ besser werden, und wie?',
    ),
    ...of(['senior', 'lead'], 'Wie helfen Sie anderen, beim Thema „{criterion}“ besser zu werden?'),
  ],
  aboutQuote: {
    achievement: [
      'In Ihrem Lebenslauf steht: „{quote}“. Was war Ihr eigener Anteil daran?',
      'In Ihrem Lebenslauf steht: „{quote}“. Wie sind Sie vorgegangen, und woran haben Sie den Erfolg gesehen?',
      'In Ihrem Lebenslauf steht: „{quote}“. Was würden Sie heute anders machen?',
    ],
    position: [
      'Ihr Lebenslauf nennt „{quote}“. Welche Aufgaben dort kommen der Stelle {role} am nächsten?',
      'Ihr Lebenslauf nennt „{quote}“. Was haben Sie dort gelernt, das Sie heute nutzen?',
    ],
    skill: 'In Ihrem Lebenslauf steht: „{quote}“. Wie haben Sie {skill} dort eingesetzt?',
    missing: 'Ihr Lebenslauf erwähnt {skill} nicht, und diese Stelle braucht es. Wie würden Sie damit anfangen?',
  },
  general: {
    introduction: all(
      'Woran haben Sie in den letzten zwölf Monaten gearbeitet?',
      'Welche Ihrer bisherigen Aufgaben hat Sie am besten auf die Stelle {role} vorbereitet?',
      'Wie sind Sie zu der Arbeit gekommen, die Sie heute machen?',
      'Auf welche Arbeit sind Sie am meisten stolz, und warum?',
      'Wie sieht ein gewöhnlicher Arbeitstag bei Ihnen aus?',
    ),
    technical: [
      ...of(
        ['junior', 'mid'],
        'Wie lernen Sie etwas, das Sie für die Arbeit brauchen und noch nicht kennen?',
        'Wie prüfen Sie die Qualität Ihrer Arbeit, bevor andere sie sehen?',
        'Welche Werkzeuge nutzen Sie jeden Tag, und warum gerade diese?',
      ),
      ...of(
        ['senior', 'lead'],
        'Welche Ihrer fachlichen Entscheidungen hatte die größte Wirkung, und wie kamen Sie dazu?',
        'Wie halten Sie ein System einfach, während es wächst?',
        'Wie entscheiden Sie, was gut genug ist?',
      ),
      ...all(
        'Erklären Sie etwas Kompliziertes aus Ihrer Arbeit in einfachen Worten.',
        'Wie finden Sie die Ursache eines Problems, das sich nur manchmal zeigt?',
        'Was tun Sie bei der Arbeit, um die Daten anderer zu schützen?',
        'Woran erkennen Sie, dass eine Aufgabe fertig ist?',
      ),
    ],
    behavioral: [
      ...of(
        ['lead'],
        'Erzählen Sie von einer Person, der Sie geholfen haben, sich zu entwickeln. Was haben Sie getan?',
        'Beschreiben Sie eine Ihrer Entscheidungen, die Ihrem Team nicht gefiel. Wie sind Sie damit umgegangen?',
      ),
      ...of(['senior'], 'Wann haben Sie jemanden umgestimmt, der mehr zu sagen hatte als Sie? Wie?'),
      ...of(['junior'], 'Erzählen Sie von etwas, das Sie von einer Kollegin oder einem Kollegen gelernt haben.'),
      ...all(
        'Auf welches Ergebnis Ihrer Arbeit sind Sie stolz, und was war Ihr Anteil daran?',
        'Erzählen Sie von einer Meinungsverschiedenheit im Team. Wie ging sie aus?',
        'Beschreiben Sie eine Rückmeldung, die Ihre Arbeitsweise verändert hat.',
        'Erzählen Sie von einer Entscheidung, die Sie mit zu wenig Informationen getroffen haben.',
        'Wann haben Sie zuletzt jemand anderem zum Erfolg verholfen? Wie?',
        'Beschreiben Sie ein Ziel, das Sie nicht erreicht haben. Was haben Sie daraus gelernt?',
        'Erzählen Sie von einer Situation, in der Sie Ihre Pläne schnell ändern mussten.',
        'Wann haben Sie etwas übernommen, um das niemand Sie gebeten hatte?',
        'Wann haben Sie bei der Arbeit Nein gesagt? Was geschah dann?',
      ),
    ],
    situational: [
      ...of(
        ['lead'],
        'Die Hälfte Ihres Teams fällt eine Woche lang aus. Wie halten Sie ein, was zugesagt war?',
        'Zwei gute Leute in Ihrem Team sprechen nicht mehr miteinander. Was tun Sie?',
      ),
      ...of(['senior'], 'Sie übernehmen ein Projekt, das drei Monate im Verzug ist. Was sind Ihre ersten Schritte?'),
      ...of(['junior'], 'Sie kommen nicht weiter, und alle, die helfen könnten, sind beschäftigt. Was tun Sie?'),
      ...all(
        'Zwei dringende Aufgaben kommen gleichzeitig. Wie entscheiden Sie, welche zuerst drankommt?',
        'Sie merken, dass ein Termin nicht zu halten ist. Was tun Sie, und wann?',
        'Sie bekommen eine unklare Aufgabe. Was sind Ihre ersten Schritte?',
        'Eine Kundin oder ein Kollege ist wütend auf Sie. Wie antworten Sie?',
        'Sie finden einen schweren Fehler in einer Arbeit, die schon ausgeliefert ist. Was tun Sie?',
        'Ihre Führungskraft verlangt etwas, das Sie für falsch halten. Was tun Sie?',
        'Sie übernehmen die Arbeit von jemandem, der gegangen ist. Wie fangen Sie an?',
        'Sie werden öffentlich etwas gefragt, das Sie nicht beantworten können. Was sagen Sie?',
      ),
    ],
    motivation: all(
      'Warum möchten Sie die Stelle {role}?',
      'Was erwarten Sie von Ihren ersten drei Monaten auf der Stelle {role}?',
      'Welche Art von Arbeit kostet Sie am meisten, und wie schaffen Sie sie trotzdem?',
      'Was macht ein Team aus, in dem Sie gern arbeiten?',
      'Worin möchten Sie in einem Jahr besser sein als heute?',
      'Welche Ihrer früheren Aufgaben möchten Sie behalten, und welche nicht?',
      'Welche Frage zur Stelle {role} haben Sie an uns?',
    ),
  },
  aspects: [
    'Arbeit planen',
    'die eigene Arbeit testen',
    'für andere dokumentieren',
    'Daten schützen',
    'Aufwand schätzen',
    'Fehlerursachen finden',
    'die Arbeit anderer prüfen',
    'Arbeit übergeben',
    'mit Hinterlassenem anderer arbeiten',
    'Ergebnisse messen',
    'Routinearbeit automatisieren',
    'Qualität unter Zeitdruck halten',
    'ein neues Werkzeug lernen',
    'mit anderen Abteilungen arbeiten',
    'in der Gruppe entscheiden',
    'anderen die eigene Arbeit erklären',
  ],
  aboutAspect: {
    introduction: [
      'Welche Erfahrung haben Sie mit dem Thema „{aspect}“?',
      'Wo haben Sie das gelernt: „{aspect}“?',
      'Wie viel Ihrer bisherigen Arbeit war „{aspect}“?',
    ],
    technical: [
      'Wie gehen Sie als {role} beim Thema „{aspect}“ vor?',
      'Welche Werkzeuge oder Methoden nutzen Sie beim Thema „{aspect}“, und warum?',
      'Welchen Rat zum Thema „{aspect}“ würden Sie neuen Kolleginnen und Kollegen geben?',
    ],
    behavioral: [
      'Erzählen Sie von einer Situation, in der „{aspect}“ schwierig war. Was haben Sie getan?',
      'Was hat sich daran, wie Sie mit „{aspect}“ umgehen, seit Ihrem Berufsanfang geändert?',
      'Wann hat jemand davon profitiert, wie Sie beim Thema „{aspect}“ vorgehen?',
    ],
    situational: [
      'Angenommen, „{aspect}“ misslingt in Ihrem ersten Monat hier. Was tun Sie?',
      'Ihr Team findet, dass „{aspect}“ zu viel Zeit kostet. Was schlagen Sie vor?',
      'Sie haben für „{aspect}“ einen Tag und bräuchten drei. Was tun Sie?',
    ],
    motivation: [
      'Was mögen Sie an „{aspect}“, und was nicht?',
      'Wie wichtig ist Ihnen „{aspect}“ auf Ihrer nächsten Stelle?',
      'Was möchten Sie zum Thema „{aspect}“ noch lernen?',
    ],
  },
  usualCriteria: ['Kommunikation', 'Problemlösung', 'Fachwissen'],
};

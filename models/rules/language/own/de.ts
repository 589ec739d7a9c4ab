import type { Own } from './own.ts';

export const de: Own = {
  called: 'Ich habe eine Person aus dem Team gerufen. Sie antwortet Ihnen hier.',
  away: 'Das Team ist gerade nicht da. Es ist wieder da am {when}.',
  greeting: 'Guten Tag! Was möchten Sie wissen?',
  thanks: 'Gern geschehen. Möchten Sie noch etwas wissen?',
  farewell: 'Auf Wiedersehen, und schreiben Sie jederzeit wieder.',
  help: 'Natürlich. Ich beantworte Fragen aus den Unterlagen, die mir vorliegen. Was möchten Sie wissen?',
  small_talk: 'Danke der Nachfrage. Ich bin für Fragen zu unserem Angebot da. Was möchten Sie wissen?',
  bot: 'Ich bin ein automatischer Assistent und antworte aus den Unterlagen, die mir vorliegen. Wenn Sie lieber mit einer Person sprechen, schreiben Sie es, und ich rufe eine.',
  insult:
    'Es tut mir leid, dass das nicht gut läuft. Fragen Sie gern mit anderen Worten, oder schreiben Sie, dass Sie mit einer Person sprechen möchten, und ich rufe eine.',
  notFound:
    'Dazu habe ich in meinen Unterlagen keine Antwort gefunden. Fragen Sie gern mit anderen Worten, oder schreiben Sie, dass Sie mit einer Person sprechen möchten, und ich rufe eine.',
  notFoundAgain:
    'Auch dazu habe ich keine Antwort gefunden und deshalb eine Person aus dem Team gerufen. Sie antwortet Ihnen hier.',
  outOfOrder:
    'Ich kann das im Moment nicht nachsehen und habe deshalb eine Person aus dem Team gerufen. Sie antwortet Ihnen hier.',
  memberAsked: 'Dem muss erst jemand aus dem Team zustimmen. Ich sage Ihnen hier Bescheid, sobald es entschieden ist.',
  actionDone: 'Das ist erledigt.',
  actionFailed:
    'Das hat nicht geklappt. Soweit ich sehe, wurde nichts geändert; Sie können es noch einmal versuchen oder nach einer Person fragen.',
  actionUnknown:
    'Ich weiß nicht, ob das ausgeführt wurde, und versuche es deshalb nicht noch einmal. Ich habe eine Person aus dem Team gerufen; sie sieht nach und antwortet Ihnen hier.',
  actionDeclined: 'In Ordnung, es wurde nichts unternommen.',
  actionExpired:
    'Es wurde nicht rechtzeitig bestätigt, deshalb wurde nichts unternommen. Fragen Sie noch einmal, wenn Sie es weiterhin möchten.',
  actionRefused: 'Das Team hat dem nicht zugestimmt, deshalb wurde nichts unternommen.',
  signInFirst: 'Dafür muss ich wissen, wer Sie sind. Bitte melden Sie sich an und fragen Sie noch einmal.',
  personOnly: 'Das darf nur eine Person tun, deshalb habe ich eine aus dem Team gerufen. Sie antwortet Ihnen hier.',
  needsMore: 'Darum kann ich mich kümmern. Bitte nennen Sie mir:',
  overTestLimit:
    'Dies ist ein Testgespräch, und die Organisation hat die Antworten verbraucht, die der Testmodus in einer Minute erlaubt. Bitte fragen Sie in einer Minute noch einmal.',
  nothingFound: 'Dazu habe ich in den vorliegenden Unterlagen nichts gefunden.',
  mayHelp: 'Das könnte helfen:',
  nothingMore: 'Mehr als das, was ich oben geschrieben habe, steht dazu nicht in meinen Unterlagen.',
  newer: '(Aus „{a}“; in „{b}“, das älter ist, steht es anders.)',
  otherLanguage: 'Unsere Dokumente sagen dazu in einer anderen Sprache:',
};

import type { Own } from './own.ts';

export const nl: Own = {
  called: 'Ik heb iemand van het team geroepen. Die antwoordt u hier.',
  away: 'Het team is er nu niet. Het is terug op {when}.',
  greeting: 'Goedendag! Wat wilt u weten?',
  thanks: 'Graag gedaan. Wilt u nog iets weten?',
  farewell: 'Tot ziens, en schrijf gerust weer wanneer u ons nodig hebt.',
  help: 'Natuurlijk. Ik beantwoord vragen met de documenten die ik heb gekregen. Wat wilt u weten?',
  small_talk: 'Fijn dat u het vraagt. Ik ben er voor vragen over onze dienst. Wat wilt u weten?',
  bot: 'Ik ben een automatische assistent en antwoord met de documenten die ik heb gekregen. Als u liever een mens spreekt, vraag erom, en ik roep er een.',
  insult:
    'Het spijt me dat dit niet goed gaat. U kunt het met andere woorden vragen, of om een mens vragen, en ik roep er een.',
  notFound:
    'Ik heb hierop geen antwoord gevonden in de documenten die ik heb. U kunt het met andere woorden vragen, of om een mens vragen, en ik roep er een.',
  notFoundAgain:
    'Ook hierop heb ik geen antwoord gevonden, daarom heb ik iemand van het team geroepen. Die antwoordt u hier.',
  outOfOrder:
    'Ik kan dit op dit moment niet nakijken, daarom heb ik iemand van het team geroepen. Die antwoordt u hier.',
  memberAsked: 'Hier moet eerst iemand van het team mee instemmen. Ik laat het u hier weten zodra het is beslist.',
  actionDone: 'Dat is gedaan.',
  actionFailed:
    'Dat is niet gelukt. Voor zover ik zie is er niets veranderd; u kunt het nog eens proberen of om een mens vragen.',
  actionUnknown:
    'Ik weet niet of dit is uitgevoerd, daarom probeer ik het niet opnieuw. Ik heb iemand van het team geroepen, die het nakijkt en u hier antwoordt.',
  actionDeclined: 'Goed, er is niets gedaan.',
  actionExpired: 'Het is niet op tijd bevestigd, daarom is er niets gedaan. Vraag het opnieuw als u het nog wilt.',
  actionRefused: 'Het team heeft hier niet mee ingestemd, daarom is er niets gedaan.',
  signInFirst: 'Hiervoor moet ik weten wie u bent. Meld u aan en vraag het opnieuw.',
  personOnly: 'Alleen een mens mag dit doen, daarom heb ik iemand van het team geroepen. Die antwoordt u hier.',
  needsMore: 'Daar kan ik naar kijken. Laat me weten:',
  overTestLimit:
    'Dit is een testgesprek, en de organisatie heeft de antwoorden verbruikt die de testmodus in een minuut toestaat. Vraag het over een minuut opnieuw.',
  nothingFound: 'Ik heb hierover niets gevonden in de beschikbare documenten.',
  mayHelp: 'Dit kan helpen:',
  nothingMore: 'Mijn documenten zeggen hierover niet meer dan wat ik hierboven heb geschreven.',
  newer: '(Uit “{a}”; in “{b}”, dat ouder is, staat het anders.)',
  otherLanguage: 'Onze documenten zeggen dit in een andere taal:',
};

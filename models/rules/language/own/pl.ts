import type { Own } from './own.ts';

export const pl: Own = {
  called: 'Zawołałem osobę z zespołu. Odpowie tutaj.',
  away: 'Zespołu teraz nie ma. Wraca: {when}.',
  greeting: 'Dzień dobry! Co chcesz wiedzieć?',
  thanks: 'Nie ma za co. Czy chcesz wiedzieć coś jeszcze?',
  farewell: 'Do widzenia. Napisz ponownie, kiedy tylko będzie trzeba.',
  help: 'Oczywiście. Odpowiadam na pytania na podstawie dokumentów, które otrzymałem. Co chcesz wiedzieć?',
  small_talk: 'Dziękuję, że pytasz. Jestem tu od pytań o naszą usługę. Co chcesz wiedzieć?',
  bot: 'Jestem automatycznym asystentem i odpowiadam na podstawie dokumentów, które otrzymałem. Jeśli wolisz człowieka, poproś o niego, a go zawołam.',
  insult:
    'Przykro mi, że to nie idzie dobrze. Możesz zapytać innymi słowami albo poprosić o rozmowę z człowiekiem, a go zawołam.',
  notFound:
    'Nie znalazłem na to odpowiedzi w dokumentach, które mam. Możesz zapytać innymi słowami albo poprosić o rozmowę z człowiekiem, a go zawołam.',
  notFoundAgain: 'Na to również nie znalazłem odpowiedzi, dlatego zawołałem osobę z zespołu. Odpowie tutaj.',
  outOfOrder: 'W tej chwili nie mogę tego sprawdzić, dlatego zawołałem osobę z zespołu. Odpowie tutaj.',
  memberAsked: 'Najpierw musi się na to zgodzić ktoś z zespołu. Powiem tutaj, gdy tylko zapadnie decyzja.',
  actionDone: 'Gotowe.',
  actionFailed:
    'To się nie udało. O ile widzę, nic nie zostało zmienione; możesz spróbować ponownie albo poprosić o człowieka.',
  actionUnknown:
    'Nie wiem, czy to zostało wykonane, dlatego nie próbuję ponownie. Zawołałem osobę z zespołu, która to sprawdzi i odpowie tutaj.',
  actionDeclined: 'Dobrze, nic nie zostało zrobione.',
  actionExpired:
    'Nie potwierdzono tego na czas, dlatego nic nie zostało zrobione. Poproś ponownie, jeśli nadal tego chcesz.',
  actionRefused: 'Zespół się na to nie zgodził, dlatego nic nie zostało zrobione.',
  signInFirst: 'Do tego muszę wiedzieć, kim jesteś. Zaloguj się i zapytaj ponownie.',
  personOnly: 'Może to zrobić tylko człowiek, dlatego zawołałem osobę z zespołu. Odpowie tutaj.',
  needsMore: 'Mogę się tym zająć. Podaj mi, proszę:',
  overTestLimit:
    'To jest rozmowa testowa, a organizacja zużyła odpowiedzi, na które tryb testowy pozwala w ciągu minuty. Zapytaj ponownie za minutę.',
  nothingFound: 'Nie znalazłem nic na ten temat w dostępnych dokumentach.',
  mayHelp: 'To może pomóc:',
  nothingMore: 'Moje dokumenty nie mówią o tym więcej niż to, co napisałem powyżej.',
  newer: '(Według „{a}”; w „{b}”, starszym dokumencie, jest inaczej.)',
  otherLanguage: 'Nasze dokumenty mówią o tym w innym języku:',
};

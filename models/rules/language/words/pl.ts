import { listed, type Words } from './lists.ts';

export const pl: Words = {
  functionWords:
    listed(`albo byc był była było bedzie czy dla dlaczego gdzie ile jaka jaki jakie jego jej kiedy kto ktora ktory ktore
    moj moja moje mojego mojej moge mozna nie oraz przez przy sie swoj swoje tego tej tym wasz`),
  telling:
    listed(`bilet chce chciałabym chciałbym co cos czego dni dobry dokumentach działa działaja dziekuje dzien faktura
    faktury godziny hasło ich jak jest jestem jutro karte karty konta kosztuje macie maja mam mi mnie na numerem
    oddac odpowiedzi osobe otwarte paczka paczke paczki pieniadze pieniedzy pomoc poprosze potrzebuje prosze przelew
    płatnosc płatnosci rachunek reklamacje rezerwacje rozmawiac sklep teraz to tutaj umowe wysyłka wysyłki zalogowac
    zamowienia zamowienie zapomniałam zapomniałem zawołałem zespołu zgubiłam zgubiłem zmienic znalazłem zwrocic
    zwrot zwrotu`),
  asking: [],
  joining: [],
  leaning: [],
};

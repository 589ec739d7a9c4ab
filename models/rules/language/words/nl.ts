/** Words of Dutch. */
import { listed, type Words } from './lists.ts';

export const nl: Words = {
  functionWords:
    listed(`aan bij dat de een en hebben het hoe ik is kan maar met mijn naar niet of om op te van voor waar wanneer wat
    wie zijn`),
  telling:
    listed(`adres bestelling betaling bedankt deze door geen geld graag heb hebt heeft hoeveel kaart kosten krijg kunnen
    mij moet nog ons pakket rekening uit uw vergeten verloren waarom welke wil worden wordt zonder`),
  asking: [],
  joining: [],
  leaning: [],
};

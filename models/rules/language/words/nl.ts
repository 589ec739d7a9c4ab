import { listed, type Words } from './lists.ts';

export const nl: Words = {
  functionWords:
    listed(`aan bij dat de een en hebben het hoe ik is kan maar met mijn naar niet of om op te van voor waar wanneer wat
    wie zijn`),
  telling:
    listed(`adres antwoord bestelling betaling bedankt dag dank dat deze die dit door ook geen geld geroepen gesloten gedaan graag hartelijk heb hebt heeft hier
    hoeveel iets iemand jullie kaart kost kosten krijg kunnen laat medewerker mens mij moet nog ons open pakket rekening schoenen
    spreken terugsturen u uit uw vergeten verkoopt verkopen verloren verzending waarom wachtwoord weer welke wijzig wil wilt worden wordt
    zonder zondag`),
  asking: [],
  joining: [],
  leaning: [],
};

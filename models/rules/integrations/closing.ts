/**
 * The message to a customer whose ticket was closed in another service, such as Linear. Members do not write to
 * customers from that service, so this fixed message tells the customer. Pure.
 */
import { languageOfFirst, type Language } from '../language/language.ts';

export type Closing = 'completed' | 'canceled';

const sentences: Readonly<Record<Closing, Readonly<Record<Language, string>>>> = {
  completed: {
    en: 'Our team has finished working on your request. If something is still open, just write here again.',
    de: 'Unser Team hat Ihr Anliegen erledigt. Wenn noch etwas offen ist, schreiben Sie einfach hier weiter.',
    fr: 'Notre équipe a terminé le traitement de votre demande. S’il reste quelque chose, écrivez simplement ici.',
    es: 'Nuestro equipo ha terminado de atender su solicitud. Si queda algo pendiente, escriba aquí de nuevo.',
    it: 'Il nostro team ha finito di occuparsi della Sua richiesta. Se resta qualcosa in sospeso, scriva di nuovo qui.',
    pt: 'A nossa equipa terminou de tratar do seu pedido. Se ainda houver algo pendente, escreva aqui de novo.',
    nl: 'Ons team is klaar met uw verzoek. Als er nog iets openstaat, schrijf dan gewoon hier verder.',
    pl: 'Nasz zespół zakończył pracę nad Twoją sprawą. Jeśli coś zostało, po prostu napisz tutaj ponownie.',
  },
  canceled: {
    en: 'Our team has closed your request. If you still need help, just write here again.',
    de: 'Unser Team hat Ihr Anliegen geschlossen. Wenn Sie weiter Hilfe brauchen, schreiben Sie einfach hier weiter.',
    fr: 'Notre équipe a clos votre demande. Si vous avez encore besoin d’aide, écrivez simplement ici.',
    es: 'Nuestro equipo ha cerrado su solicitud. Si todavía necesita ayuda, escriba aquí de nuevo.',
    it: 'Il nostro team ha chiuso la Sua richiesta. Se ha ancora bisogno di aiuto, scriva di nuovo qui.',
    pt: 'A nossa equipa fechou o seu pedido. Se ainda precisar de ajuda, escreva aqui de novo.',
    nl: 'Ons team heeft uw verzoek gesloten. Als u nog hulp nodig hebt, schrijf dan gewoon hier verder.',
    pl: 'Nasz zespół zamknął Twoją sprawę. Jeśli nadal potrzebujesz pomocy, po prostu napisz tutaj ponownie.',
  },
};

/** The sentence in the customer's language. `said`: the customer's messages, newest first. */
export const closingSentence = (closing: Closing, said: readonly string[]): string =>
  sentences[closing][languageOfFirst(said)];

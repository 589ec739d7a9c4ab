/** What a customer is told when a ticket is closed elsewhere, where no member writes to them. Pure. */
import { languageOfFirst, type Language } from '../language/language.ts';

/** How the ticket ended. */
export type Closing = 'completed' | 'canceled';

const sentences: Readonly<Record<Closing, Readonly<Record<Language, string>>>> = {
  completed: {
    en: 'Our team has finished working on your request. If something is still open, just write here again.',
    de: 'Unser Team hat Ihr Anliegen erledigt. Wenn noch etwas offen ist, schreiben Sie einfach hier weiter.',
    fr: 'Notre équipe a terminé le traitement de votre demande. S’il reste quelque chose, écrivez simplement ici.',
    es: 'Nuestro equipo ha terminado de atender su solicitud. Si queda algo pendiente, escriba aquí de nuevo.',
  },
  canceled: {
    en: 'Our team has closed your request. If you still need help, just write here again.',
    de: 'Unser Team hat Ihr Anliegen geschlossen. Wenn Sie weiter Hilfe brauchen, schreiben Sie einfach hier weiter.',
    fr: 'Notre équipe a clos votre demande. Si vous avez encore besoin d’aide, écrivez simplement ici.',
    es: 'Nuestro equipo ha cerrado su solicitud. Si todavía necesita ayuda, escriba aquí de nuevo.',
  },
};

/** In the language that the customer writes; `said`: what the customer wrote, the newest first. */
export const closingSentence = (closing: Closing, said: readonly string[]): string =>
  sentences[closing][languageOfFirst(said)];

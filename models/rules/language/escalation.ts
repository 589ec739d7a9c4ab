/** The agent's fixed sentences, in every language of the agent. */
import { de } from './own/de.ts';
import { en } from './own/en.ts';
import { es } from './own/es.ts';
import { fr } from './own/fr.ts';
import { it } from './own/it.ts';
import { nl } from './own/nl.ts';
import type { Own } from './own/own.ts';
import { pl } from './own/pl.ts';
import { pt } from './own/pt.ts';
import { languages, type Language } from './language.ts';

const own: Readonly<Record<Language, Own>> = { en, de, fr, es, it, pt, nl, pl };

export const ownSentences = Object.fromEntries(
  (Object.keys(en) as (keyof Own)[]).map((name) => [
    name,
    Object.fromEntries(languages.map((language) => [language, own[language][name]])),
  ]),
) as Readonly<Record<keyof Own, Readonly<Record<Language, string>>>>;

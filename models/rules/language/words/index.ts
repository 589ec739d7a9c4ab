import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import type { Words } from './lists.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';

export const wordsOf = { en, de, fr, es, it, pt, nl, pl } satisfies Record<string, Words>;
export type Known = keyof typeof wordsOf;
export const knownLanguages = Object.keys(wordsOf) as Known[];

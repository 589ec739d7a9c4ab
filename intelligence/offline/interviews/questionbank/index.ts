import type { Bank } from './bank.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import type { InterviewLanguage } from '../../../../models/rules/language/language.ts';

export const banks: Readonly<Record<InterviewLanguage, Bank>> = { en, de, fr, es };

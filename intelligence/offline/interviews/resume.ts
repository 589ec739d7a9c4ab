/**
 * Selects the lines of a resume that questions can quote, word for word. The selection does not judge the candidate.
 */
import { maxResumeCharacters } from '../../../models/rules/interviews/resume.ts';

export type ResumePoint = { kind: 'achievement' | 'position'; text: string };

const maxPoints = 40;
/** The minimum and maximum length of a quoted line, in characters. A longer line is truncated. */
const quotable = { min: 20, max: 180 } as const;

/** A pattern for words that introduce an achievement. Languages: en, de, fr, es. */
const achieved =
  /\b(?:led|built|designed|developed|managed|reduced|increased|launched|created|implemented|migrated|improved|introduced|taught|trained|organi[sz]ed|delivered|saved|grew|founded|wrote|maintained|automated|negotiated|coordinated|supervised|established|leitete|entwickelte|baute|führte|verantwort\w+|erhöhte|senkte|dirigé|développé|conçu|géré|réduit|augmenté|lideré|desarroll\w+|dirig\w+|gestion\w+|reduj\w+)(?!\p{L})|\d\s?%/iu;
/** A pattern for the period of a position, such as a span of years. */
const span =
  /\b(?:19|20)\d\d\b\s*(?:[-–—]|to|bis|à|a)\s*(?:(?:19|20)\d\d\b|present|today|now|heute|aujourd'hui|actualidad)/iu;
/** A pattern for contact data, which is never quoted. */
const contact = /@|https?:|www\.|\+?\d[\d ()/-]{7,}\d/iu;
/** A pattern for a line that addresses the reader, such as a prompt injection. Such a line is not worth a question. */
const addressed =
  /\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|prompt|rule|above|previous)|\b(?:as an ai|language model|system prompt|you are (?:an?|the)\b|you must|hire me|give me|rate me|score me|maximum (?:score|points)|10 points|recommend hiring)/iu;

/** The distinct lines of a resume that can be quoted in questions, in their order. */
export function resumePoints(resume: string): ResumePoint[] {
  const found = new Map<string, ResumePoint>();
  for (const raw of resume.slice(0, maxResumeCharacters).split(/\n+/u)) {
    const text = lineOf(raw);
    if (text.length < quotable.min || contact.test(text) || addressed.test(text)) continue;
    const kind = achieved.test(text) ? 'achievement' : span.test(text) ? 'position' : undefined;
    if (kind === undefined || found.has(text)) continue;
    found.set(text, { kind, text });
    if (found.size === maxPoints) break;
  }
  return [...found.values()];
}

/** Removes a line's bullet, double quotes and final punctuation mark, and truncates a long line at a word boundary. */
function lineOf(raw: string): string {
  const line = raw
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/[“”"]/gu, '')
    .replace(/^[\s•·▪‣*–—-]+/u, '')
    .replace(/[\s.;,]+$/u, '');
  if (line.length <= quotable.max) return line;
  return line.slice(0, quotable.max).replace(/\s+\S*$/u, '');
}

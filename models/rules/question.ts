/**
 * What a message asks, apart from what it tells: people introduce themselves, say how it came about, and thank. Pure. Whoever
 * looks for an answer compares it with the questions alone; a model is given the whole message.
 */
import { sentences } from './chunks.ts';
import { fold, terms } from './words.ts';

/** Questions of one message looked at; what follows them is not searched. */
const maxQuestions = 8;

/** How a question begins in the languages that customers write in most; folded. */
const opening =
  'how|what|when|where|who|whose|whom|which|why|can|could|do|does|did|is|are|was|were|will|would|should|may|must|have|has|' +
  'wie|wann|wo|wer|wem|wen|welche[rmns]?|warum|kann|konnen|gibt|darf|muss|' +
  'comment|quand|ou|combien|quel|quelle|quels|quelles|pourquoi|est-ce|' +
  'como|cuando|donde|cuanto|cuanta|cuantos|cuantas|cual|cuales|que|quien|puedo';
const joined = '(?:(?:and|or|but|so|also|please|und|oder|aber|et|mais|y|o|pero)[ ,]+)?';
const asks = new RegExp(`^${joined}(?:${opening})(?![\\p{L}\\p{M}\\p{N}])`, 'u');
/** Where one question of a sentence ends and the next begins. */
const nextQuestion = new RegExp(`[,;] +(?=${joined}(?:${opening})(?![\\p{L}\\p{M}\\p{N}]))`, 'u');
/** Where whoever writes no capitals ends a sentence, and where a question is announced. */
const smallEnd = new RegExp(`(?<=[!?]) +|(?<=[.:]) +(?=${joined}(?:${opening})(?![\\p{L}\\p{M}\\p{N}]))`, 'iu');
/** Words that stand for something said before, and beginnings that go on with it. */
const leaning =
  /^(?:and|or|but|then|und|oder|aber|et|mais|y|pero)\b|\b(?:it|its|this|that|these|those|they|them|one|ones|diese[rmns]?|davon|dafur|ca|cela|eso|esto)\b/u;
const closing =
  /^(?:many thanks|thanks|thank you|thx|best|kind|warm|with kind|regards|sincerely|yours|cheers|danke|vielen dank|mit freundlichen|viele grusse|merci|cordialement|gracias|saludos)\b/u;

const subjects = (text: string): number => terms(text).filter(({ weight }) => weight === 1).length;

/** Whether a question names too little itself to be understood without what was said before it. */
function leans(sentence: string): boolean {
  const named = subjects(sentence);
  return named === 0 || (named === 1 && leaning.test(fold(sentence)));
}

/** The questions that one sentence joins ("How do I …, and where …?") and that name enough to be understood alone. */
function parts(sentence: string): string[] {
  const folded = fold(sentence);
  if (!asks.test(folded)) return [];
  return folded.split(nextQuestion).filter((part) => part !== folded && subjects(part) >= 2);
}

export type Asking = {
  /** The sentences that ask, each with what it leans on: what is searched for. */
  text: string;
  /** Its questions one by one; whoever answers one of them answers. */
  questions: string[];
};

/**
 * What a message asks: the sentences that ask or, where none does, the last one that is not a farewell. A message of one
 * sentence is searched for as it stands.
 */
export function askedIn(message: string): Asking {
  const said = message
    .split(/\n+/u)
    .flatMap((line) => sentences(line).flatMap((sentence) => sentence.split(smallEnd)))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  const asking = [...said.keys()].filter((at) => /[?？؟]$/u.test(said[at]!) || asks.test(fold(said[at]!)));
  const last = said.findLastIndex((sentence) => !closing.test(fold(sentence)));
  const chosen = asking.length > 0 ? asking.slice(0, maxQuestions) : last < 0 ? [] : [last];
  const whole = chosen.map((at) => (at > 0 && leans(said[at]!) ? `${said[at - 1]} ${said[at]}` : said[at]!));
  if (said.length <= 1 || whole.length === 0) return { text: message, questions: [message, ...parts(message)] };
  return { text: whole.join('\n'), questions: whole.flatMap((sentence) => [sentence, ...parts(sentence)]) };
}

/**
 * What to search for when a question leans on what was said before ("and for students?"): a question with fewer than two
 * words of its own subject is read together with what the customer asked before, as one sentence. Its own words come first,
 * for a long text is cut.
 */
export function contextualize(question: string, history: readonly { role: string; body: string }[]): string {
  if (subjects(question) >= 2) return question;
  const previous = history.findLast(({ role }) => role === 'customer' || role === 'user')?.body;
  if (previous === undefined) return question;
  const asked = askedIn(previous).text.split('\n').at(-1);
  return `${question.trim().replace(/[.!?？؟…]+$/u, '')} – ${asked}`;
}

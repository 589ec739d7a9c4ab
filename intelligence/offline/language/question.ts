/**
 * Separates what a message asks from statements and courtesies: people greet, introduce themselves, describe what
 * happened, thank and sign. The sentences are already classified (classifier.ts). Retrieval searches only for what is
 * asked; a model gets the whole message. Pure.
 */
import { classify, likelihood, likeliest, type Classified, type SentenceClass } from './classifier.ts';
import type { Intent } from '../../intelligence.ts';
import type { Asking, Reading } from '../../../models/rules/language/asking.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { fold, terms } from '../../../models/rules/language/words.ts';
import { knownLanguages, wordsOf } from '../../../models/rules/language/words/index.ts';

/**
 * The courtesies in order of priority: a message with several courtesies gets the answer to the first one in this list.
 */
const courtesies = ['bot', 'insult', 'small_talk', 'help', 'farewell', 'thanks', 'greeting'] as const;
export type Courtesy = (typeof courtesies)[number];

/** The most sentences of a message that are read. */
const mostSentences = 64;
/** The intent is decided from this many first sentences of a message. */
export const sentencesForIntent = 16;
/**
 * At most this many questions of a message are searched for, the first ones, and at most this many statements, the last
 * ones.
 */
const maxQuestions = 8;
/**
 * A message with more words than this is not a courtesy. It is a request for a human only if a sentence is almost
 * certain (`sureInLong`).
 */
const wordsOfShort = 30;
/**
 * The minimum probability with which a sentence counts as a request for a human (`call`), as a courtesy (`courtesy`) or
 * as a question (`asks`, `surelyAsks`). `talk`, or `oneWord` for a single word, is the minimum for small talk, insults,
 * questions about the agent, and requests for help without a subject.
 *
 * With embeddings, the probability of a courtesy is above 0.48 for courtesies of real customers and below 0.36 for
 * their questions, with one exception. Without embeddings (`words`), the model is less certain, so most values are
 * higher: `courtesy`, `talk` and `asks` come from cross-validation over the training sentences. `call` is higher than
 * cross-validation suggests, because a wrong handover silences the agent and costs more than a missed one.
 */
const sure = {
  embedding: { call: 2 / 3, courtesy: 0.45, talk: 0.45, oneWord: 0.45, asks: 0.5, surelyAsks: 0.5 },
  words: { call: 0.6, courtesy: 0.6, talk: 0.65, oneWord: 0.9, asks: 0.85, surelyAsks: 0.97 },
};
const sureInLong = 0.9;
/** The maximum length of a signature, in characters. */
const longestSignature = 80;

const any = (list: 'asking' | 'joining' | 'leaning'): string =>
  knownLanguages.flatMap((language) => wordsOf[language][list]).join('|');
const opens = `(?:(?:${any('joining')})[ ,]+)?(?:${any('asking')})(?![\\p{L}\\p{M}\\p{N}])`;
/** The boundary between two questions in one sentence. */
const nextQuestion = new RegExp(`[,;] +(?=${opens})`, 'u');
const opensQuestion = new RegExp(`^${opens}`, 'u');
/** The end of a sentence in a text without capitals, or the colon that introduces a question. */
const smallEnd = new RegExp(`(?<=[!?]) +|(?<=[.:]) +(?=${opens})`, 'iu');
const leans = new RegExp(`^(?:${any('joining')})\\b|\\b(?:${any('leaning')})\\b`, 'u');

const subjects = (text: string): number => terms(text).filter(({ weight }) => weight === 1).length;
const speaks = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** The sentences of a message, grouped by line. */
export function sentencesOf(message: string): string[][] {
  let left = mostSentences;
  return message
    .split(/\n+/u)
    .map((line) => {
      const found = sentences(line.trim())
        .flatMap((sentence) => sentence.split(smallEnd))
        .slice(0, left);
      left -= found.length;
      return found;
    })
    .filter((line) => line.length > 0);
}

/**
 * The clauses of a sentence, if one of them may ask for a human: "the app crashes, can I talk to someone?" Empty if the
 * whole sentence clearly asks for a human, or clearly does not.
 */
export function clausesOf({ text, classified, by }: Sentence): string[] {
  const asks = likelihood(classified, 'person');
  const doubtful = asks >= Math.max(maybeCalls, likelihood(classified, 'no_person')) && asks < sure[by].call;
  const clauses = doubtful ? text.split(/[,;:،，、] */u).filter(speaks) : [];
  return clauses.length > 1 ? clauses : [];
}
/**
 * If the whole sentence asks for a human with less than this probability, or with less than that of `no_person`, its
 * clauses are not examined.
 */
const maybeCalls = 0.05;

/**
 * `by`: the model that classified the sentence. `clauses`: the classes of its clauses, if one of them may ask for a
 * human.
 */
export type Sentence = {
  text: string;
  classified: Classified;
  by: 'embedding' | 'words';
  clauses?: readonly Classified[];
};

export type Understood = { intent: Intent; askings: [Asking, ...Asking[]] };

/** The intent and the searches of a message. `lines`: the classified sentences of `sentencesOf`. */
export function understand(message: string, lines: readonly (readonly Sentence[])[]): Understood {
  const all = lines.flat();
  return { intent: intentOf(message, all.slice(0, sentencesForIntent)), askings: askingsOf(message, lines) };
}

/** Does the same as `understand`, but classifies the sentences by their words only. */
export const readByWords = (message: string): Understood =>
  understand(
    message,
    sentencesOf(message).map((line) => line.map((text) => ({ text, classified: classify(text), by: 'words' }))),
  );

function intentOf(message: string, all: readonly Sentence[]): Intent {
  const short = message.split(/\s+/u).length <= wordsOfShort;
  const calls = ({ classified, by, clauses = [] }: Sentence): boolean =>
    likelihood(classified, 'person') >= (short ? sure[by].call : sureInLong) ||
    clauses.some((clause) => likelihood(clause, 'person') >= sureInLong);
  if (all.some(calls)) return 'person';
  const said = all.filter(({ text }) => speaks(text));
  const counted = said.length > 0 ? said : all;
  if (!short || counted.length === 0 || !counted.every(isCourtesy)) return 'question';
  const kinds = counted.map(courtesyOf);
  return courtesies.find((kind) => kinds.includes(kind)) ?? 'question';
}

/** A text like `???` asks for an answer, but the words-only model cannot classify punctuation. */
const onlyAsks = ({ text, by }: Sentence): boolean => by === 'words' && !speaks(text) && /[?？؟]/u.test(text);

const isCourtesy = (sentence: Sentence): boolean => {
  const { text, classified, by } = sentence;
  if (onlyAsks(sentence)) return false;
  const talks = ['bot', 'insult', 'small_talk', 'help'].includes(courtesyOf(sentence));
  // A single unknown word is weak evidence, for example "IBAN?", so it needs a higher probability.
  const kind = talks ? (/\s/u.test(text.trim()) ? 'talk' : 'oneWord') : 'courtesy';
  return likelihood(classified, ...courtesies) >= sure[by][kind];
};
const courtesyOf = ({ classified }: Sentence): Courtesy =>
  courtesies.toSorted((a, b) => likelihood(classified, b) - likelihood(classified, a))[0]!;
const is = ({ classified }: Sentence, name: SentenceClass): boolean => likeliest(classified) === name;
const isMarked = ({ text }: Sentence): boolean => /[?？؟]$/u.test(text);

/**
 * The probability that a sentence without a question mark asks something. A sentence that ends in a colon only
 * introduces a question.
 */
function asksUnmarked({ text, classified }: Sentence): number {
  const asking = likelihood(classified, 'question', 'no_person', 'person');
  const telling = likelihood(classified, 'tells', 'signature');
  return text.endsWith(':') ? 0 : asking / (asking + telling);
}

/**
 * `marks`: whether the message contains a question mark. Then a sentence without a question mark is more likely a
 * statement.
 */
const asks = (sentence: Sentence, marks: boolean): boolean =>
  isMarked(sentence) || asksUnmarked(sentence) >= sure[sentence.by][marks ? 'surelyAsks' : 'asks'];

const surelyAsks = (sentence: Sentence): boolean =>
  isMarked(sentence)
    ? sentence.by === 'embedding' || ['question', 'no_person', 'person'].includes(likeliest(sentence.classified))
    : asksUnmarked(sentence) >= sure[sentence.by].surelyAsks;

/** The minimum probability of a signature. It is high, because a line that is wrongly dropped may be the question. */
const sureSignature = 0.88;
const isSignature = ({ classified }: Sentence): boolean => likelihood(classified, 'signature') >= sureSignature;

/**
 * A question such as "What can I do?" after a description asks about the description. Before a description, such a
 * question only opens a conversation.
 */
const asksForHelp = (sentence: Sentence): boolean => is(sentence, 'help') && /[?？؟]$/u.test(sentence.text);

/** The sentences with content, without courtesies and signatures. */
function contentOf(lines: readonly (readonly Sentence[])[]): Sentence[] {
  const closed = lines.findIndex((line) => line.length === 1 && is(line[0]!, 'farewell'));
  return lines
    .filter(
      (line, at) =>
        !isSignature(line[0]!) &&
        (closed < 0 ||
          at <= closed ||
          line.some(({ text }) => /[?？؟]$/u.test(text) || text.length > longestSignature)),
    )
    .flat()
    .filter(({ text }) => speaks(text))
    .filter(
      (sentence, at, all) => !isCourtesy(sentence) || (at > 0 && asksForHelp(sentence) && !isCourtesy(all[at - 1]!)),
    );
}

/** Whether a question names too little to be understood without the previous sentence. */
function isThin(sentence: string): boolean {
  const named = subjects(sentence);
  return named === 0 || (named === 1 && leans.test(fold(sentence)));
}

/**
 * The questions that one sentence joins ("How do I …, and where …?"), without those too vague to be understood alone.
 */
function parts(sentence: string): string[] {
  const folded = fold(sentence);
  if (!opensQuestion.test(folded)) return [];
  return folded.split(nextQuestion).filter((part) => part !== folded && subjects(part) >= 2);
}

const alone = (text: string): Reading => ({ text, questions: [text, ...parts(text)] });

/**
 * The searches for a message, in the order to try them. Each asking sentence is joined with the sentence it refers to.
 * If these texts are specific enough, they are searched for first, and the whole message only if they find nothing. If
 * they are vague, or no sentence clearly asks, any sentence may matter. Then each sentence and the whole message are
 * alternatives. A message of one sentence is searched for unchanged.
 */
function askingsOf(message: string, lines: readonly (readonly Sentence[])[]): [Asking, ...Asking[]] {
  const content = contentOf(lines);
  const said = content.map(({ text }) => text);
  const [only = message] = said;
  if (said.length <= 1) {
    const reading = alone(lines.flat().length <= 1 ? message : only);
    return [{ text: reading.text, readings: [reading], settles: true }];
  }
  const marks = content.some(isMarked);
  const asking = [...content.keys()].filter((at) => asks(content[at]!, marks)).slice(0, maxQuestions);
  const known = asking.some((at) => surelyAsks(content[at]!));
  const named = Math.max(0, ...asking.map((at) => subjects(said[at]!)));
  const chosen = asking.map((at) => (at > 0 && isThin(said[at]!) ? `${said[at - 1]} ${said[at]}` : said[at]!));
  const told = said.filter((sentence) => subjects(sentence) > 0).slice(-maxQuestions);
  const asked = chosen.some((text) => subjects(text) > 0)
    ? { text: chosen.join('\n'), questions: chosen.flatMap((sentence) => [sentence, ...parts(sentence)]) }
    : alone(told.at(-1) ?? only);
  const text = said.join(' ');
  const settles = known && named >= 2;
  const others = known && named > 0 ? [] : told.map(alone);
  if (asked.text.replaceAll('\n', ' ') === text) return [{ text, readings: [asked, ...others], settles }];
  return [
    { text: asked.text, readings: [asked], settles },
    { text, readings: [...others, { text, questions: [text] }], settles },
  ];
}

/** Whether a message may refer to an earlier question ("and for students?"): it names fewer than two subjects. */
export const mayFollow = (message: string): boolean => subjects(message) < 2;

/**
 * Joins a follow-up message with the earlier question. The message's own words come first, because a long text is
 * truncated. The second argument contains the searches of the earlier question.
 */
export function followUp(message: string, [first, whole = first]: readonly [Asking, ...Asking[]]): string {
  const asked = (first.settles ? first : whole).text.split('\n').at(-1);
  return `${message.trim().replace(/[.!?？؟…]+$/u, '')} – ${asked}`;
}

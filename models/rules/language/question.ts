/**
 * Separates what a message asks from what it tells: people introduce themselves, describe what happened, and thank.
 * Pure. A search compares passages only with what is asked; a model gets the whole message.
 */
import { sentences } from './sentences.ts';
import { courtesyIn } from './escalation.ts';
import { fold, terms } from './words.ts';

/** How many questions of one message are searched for, or sentences when it has none; later ones are ignored. */
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
/** Where a sentence ends in a text without capitals, and where a question is introduced by a colon. */
const smallEnd = new RegExp(`(?<=[!?]) +|(?<=[.:]) +(?=${joined}(?:${opening})(?![\\p{L}\\p{M}\\p{N}]))`, 'iu');
/** Requests in the form of a wish or an instruction instead of a question. */
const wishes = new RegExp(
  `^${joined}(?:(?:i|we)(?: would|'d)? (?:like|want|need|wish|have) to|i(?: would|'d) like|i (?:want|need)|` +
    `(?:please )?(?:tell|show|give|send|explain|cancel|close|block|change|open|stop)|` +
    `(?:ich|wir) (?:mochten?|will|wollen|brauchen?|wurden? gerne?)|(?:bitte )?(?:sagen|zeigen|geben|schicken|senden|erklaren|kundigen|sperren|andern) sie|` +
    `je (?:voudrais|veux|souhaite)|(?:quiero|quisiera|necesito))(?![\\p{L}\\p{M}\\p{N}])`,
  'u',
);
/** Words that refer to something said before, and beginnings that continue it. */
const leaning =
  /^(?:and|or|but|then|und|oder|aber|et|mais|y|pero)\b|\b(?:it|its|this|that|these|those|they|them|one|ones|diese[rmns]?|davon|dafur|ca|cela|eso|esto)\b/u;
const closing =
  /^(?:(?:many |best )?thanks|thank you|thx|best(?=,|$)|(?:with )?(?:best|kind|kindest|warm|warmest) (?:regards|wishes)|regards|sincerely|yours|cheers|danke|vielen dank|mit (?:freundlichen|besten|lieben)|(?:viele|liebe|beste|freundliche) grusse|merci|cordialement|gracias|saludos)\b(?!.*(?:\?$| (?:but|my|aber|meine?[mnr]?|mais|mon|ma|mes|de|pero|mi)\b))/u;
/** Openings of a conversation, and requests for help with what the other sentences describe; folded. */
const greeting = `(?:(?:hi|hello|hey|hallo|moin|guten (?:tag|morgen|abend)|good (?:morning|afternoon|evening|day)|bonjour|hola)(?: there| everyone| team| zusammen)?|please|bitte|sorry|entschuldigung)`;
const polite = new RegExp(
  `^(?:${greeting}[ ,!.]+)*(?:${greeting}|(?:dear|sehr geehrte[rs]?|liebes?) [^,]+|` +
    `(?:can|could|would|will) (?:you|someone|somebody|anyone|anybody) (?:please )?(?:help|assist)(?: me| us)?(?: out)?(?: with (?:this|that|something))?(?: please)?|` +
    `(?:please )?help(?: me| us)?(?: please)?|(?:i|we) (?:really )?(?:need|want) (?:your |some )?help|` +
    `(?:can|could|may|might) i (?:please )?ask (?:you )?(?:something|a (?:quick )?question)(?: please)?|(?:i have )?(?:just )?(?:an? )?(?:quick |short |small )?question(?: please| for you)?|` +
    `(?:is|are) (?:anyone|anybody|someone|somebody|you) (?:there|here|online)|do you speak (?:english|german)|how are you(?: today| doing)*|` +
    `i hope (?:you are|you're|this finds you|all is) well|` +
    `(?:konnen|konnten|kannst|konntest) (?:sie|du|ihr) (?:mir|uns) (?:bitte |vielleicht |kurz )*(?:weiter)?helfen|` +
    `(?:darf|kann) ich (?:sie |dich |euch )?(?:kurz )?(?:et)?was fragen|(?:ich (?:habe|hatte) )?(?:nur )?(?:mal )?eine (?:kurze )?frage|(?:ich brauche|wir brauchen) (?:ihre |eure )?hilfe|` +
    `(?:ist )?(?:da |hier )?jemand(?: da| hier)?|sprechen sie (?:deutsch|englisch)|wie geht(?:'s| es (?:ihnen|dir|euch))|` +
    `pou(?:vez|rriez)[- ]vous m'aider|(?:me )?(?:puede|puedes|podria|podrias) ayudar(?:me)?)[ .!?,:…]*$`,
  'u',
);
/** From such a line on, the text comes from a program or a company, not from the customer; folded. */
const footer =
  /^(?:--$|[-_=*]{5,}$|get outlook\b|von meinem .{2,30} gesendet$|(?:sent (?:from|via|with)|gesendet (?:von|mit|uber)|envoye (?:de|depuis)|enviado (?:desde|de))\b[^.?!]{0,30}\b(?:iphone|ipad|ios|android|galaxy|samsung|huawei|pixel|phone|mobile|smartphone|handy|telefon|tablet|outlook|gmail|yahoo|mail)\b[^.?!]{0,20}[.!]?$|(?:this|diese) (?:e-?mail|message|nachricht)\b.*(?:confidential|intended|vertraulich))/u;
/** Lines that only hold an address, and lines with the writer's contact details. */
const place =
  /^(?:.{3,60} \d{1,4}\p{L}?, ?)?(?:[A-Z]{1,2}-)?\d{4,5} \p{Lu}[\p{L} .-]*$|^\p{Lu}[\p{L}. -]*(?:[Ss]treet|[Rr]oad|[Aa]venue|[Ll]ane|[Ss]tra(?:ß|ss)e|[Ss]tr\.|[Ww]eg|[Pp]latz|[Aa]llee) \d{1,4}\p{L}?$/u;
const reach =
  /^(?:(?:(?:tel|phone|fon|telefon|mobile?|mobil|fax)\b\.?:? ?)?\+?[\d /().-]{7,}|(?:(?:e-?mail|mail|web)\b:? ?)?(?:\S+@\S+|(?:https?:\/\/|www\.)\S+))$/iu;
const name = /^\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*){0,3}$/u;
/** Longer than any of these formulas, in characters. */
const longestFormula = 120;
const longestSignature = 80;

const subjects = (text: string): number => terms(text).filter(({ weight }) => weight === 1).length;

/** Whether a question names too little to be understood without what was said before it. */
function leans(sentence: string): boolean {
  const named = subjects(sentence);
  return named === 0 || (named === 1 && leaning.test(fold(sentence)));
}

/** The lines that carry content: without the lines that say who wrote the message, where and with what. */
function spokenLines(message: string): string[] {
  const all = message.split(/\n+/u).map((line) => line.trim());
  const end = all.findIndex((line, at) => at > 0 && footer.test(fold(line)));
  const lines = end < 0 ? all : all.slice(0, end);
  const closed = lines.findIndex((line) => line.length <= longestSignature && closing.test(fold(line)));
  const is = (kind: RegExp, at: number): boolean =>
    (lines[at]?.length ?? Infinity) <= longestSignature && kind.test(lines[at]!);
  const beside = (kinds: RegExp[], at: number): boolean => kinds.some((kind) => is(kind, at - 1) || is(kind, at + 1));
  return lines.filter((line, at) => {
    if (is(reach, at)) return false;
    if (is(place, at)) return !line.includes(',') && !beside([place, name], at);
    return !(is(name, at) && ((closed >= 0 && at > closed) || beside([place, reach], at)));
  });
}

const asSentences = (line: string): string[] => sentences(line).flatMap((sentence) => sentence.split(smallEnd));

/** The sentences of a message that are not just politeness. */
function saidIn(message: string): string[] {
  return spokenLines(message)
    .flatMap(asSentences)
    .filter((sentence) => {
      const plain = fold(sentence);
      if (!/[\p{L}\p{N}]/u.test(plain) || closing.test(plain)) return false;
      return !(plain.length <= longestFormula && polite.test(plain)) && courtesyIn(sentence) === undefined;
    });
}

/** The questions that one sentence joins ("How do I …, and where …?"), if each names enough to be understood alone. */
function parts(sentence: string): string[] {
  const folded = fold(sentence);
  if (!asks.test(folded)) return [];
  return folded.split(nextQuestion).filter((part) => part !== folded && subjects(part) >= 2);
}

/** One way to understand a message, as a list of questions: a passage that answers one of them answers the message. */
export type Reading = { text: string; questions: string[] };
/** A text to search for, and the readings by which the results are judged: the reading with the best answer counts. */
export type Asking = {
  text: string;
  readings: Reading[];
  /** When this one is answered, no other is tried; otherwise the best answered one counts. */
  settles: boolean;
};

const alone = (text: string): Reading => ({ text, questions: [text, ...parts(text)] });

/**
 * What a message asks, in the order in which to try it. If the sentences that ask name enough, each together with the
 * sentence that it refers to, only they are searched for, and the whole message only when they find nothing. If they
 * name too little, or no sentence asks, it is unknown which sentence matters: each is a reading, and so is the whole
 * message. A message of one sentence is searched for unchanged.
 */
export function askedIn(message: string): [Asking, ...Asking[]] {
  const said = saidIn(message);
  const [only = message] = said;
  if (said.length <= 1) {
    const reading = alone(asSentences(message).length <= 1 ? message : only);
    return [{ text: reading.text, readings: [reading], settles: true }];
  }
  const asking = [...said.keys()]
    .filter((at) => /[?？؟]$/u.test(said[at]!) || asks.test(fold(said[at]!)) || wishes.test(fold(said[at]!)))
    .slice(0, maxQuestions);
  const named = Math.max(0, ...asking.map((at) => subjects(said[at]!)));
  const chosen = asking.map((at) => (at > 0 && leans(said[at]!) ? `${said[at - 1]} ${said[at]}` : said[at]!));
  const told = said.filter((sentence) => subjects(sentence) > 0).slice(-maxQuestions);
  const asked = chosen.some((text) => subjects(text) > 0)
    ? { text: chosen.join('\n'), questions: chosen.flatMap((sentence) => [sentence, ...parts(sentence)]) }
    : alone(told.at(-1) ?? only);
  const text = said.join(' ');
  const settles = named >= 2;
  const others = named > 0 ? [] : told.map(alone);
  if (asked.text.replaceAll('\n', ' ') === text) return [{ text, readings: [asked, ...others], settles }];
  return [
    { text: asked.text, readings: [asked], settles },
    { text, readings: [...others, { text, questions: [text] }], settles },
  ];
}

/**
 * What to search for when a question refers to what was said before ("and for students?"): a question with fewer than
 * two subject words of its own is joined with the customer's previous question, as one sentence. Its own words come
 * first, because a long text is cut.
 */
export function contextualize(question: string, history: readonly { role: string; body: string }[]): string {
  if (subjects(question) >= 2) return question;
  const previous = history.findLast(({ role }) => role === 'customer' || role === 'user')?.body;
  if (previous === undefined) return question;
  const [first, whole = first] = askedIn(previous);
  const asked = (first.settles ? first : whole).text.split('\n').at(-1);
  return `${question.trim().replace(/[.!?？؟…]+$/u, '')} – ${asked}`;
}

/**
 * What a message asks, apart from what it tells: people introduce themselves, say how it came about, and thank. Pure. A
 * search compares passages with what is asked alone; a model is given the whole message.
 */
import { sentences } from './sentences.ts';
import { courtesyIn } from './escalation.ts';
import { fold, terms } from './words.ts';

/** Questions, or sentences in place of them, of one message looked at; what follows them is not searched. */
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
/** Where a sentence ends in a text without capitals, and where a question is announced. */
const smallEnd = new RegExp(`(?<=[!?]) +|(?<=[.:]) +(?=${joined}(?:${opening})(?![\\p{L}\\p{M}\\p{N}]))`, 'iu');
/** What is wished for rather than asked. */
const wishes = new RegExp(
  `^${joined}(?:(?:i|we)(?: would|'d)? (?:like|want|need|wish|have) to|i(?: would|'d) like|i (?:want|need)|` +
    `(?:please )?(?:tell|show|give|send|explain|cancel|close|block|change|open|stop)|` +
    `(?:ich|wir) (?:mochten?|will|wollen|brauchen?|wurden? gerne?)|(?:bitte )?(?:sagen|zeigen|geben|schicken|senden|erklaren|kundigen|sperren|andern) sie|` +
    `je (?:voudrais|veux|souhaite)|(?:quiero|quisiera|necesito))(?![\\p{L}\\p{M}\\p{N}])`,
  'u',
);
/** Words that stand for something said before, and beginnings that go on with it. */
const leaning =
  /^(?:and|or|but|then|und|oder|aber|et|mais|y|pero)\b|\b(?:it|its|this|that|these|those|they|them|one|ones|diese[rmns]?|davon|dafur|ca|cela|eso|esto)\b/u;
const closing =
  /^(?:(?:many |best )?thanks|thank you|thx|best(?=,|$)|(?:with )?(?:best|kind|kindest|warm|warmest) (?:regards|wishes)|regards|sincerely|yours|cheers|danke|vielen dank|mit (?:freundlichen|besten|lieben)|(?:viele|liebe|beste|freundliche) grusse|merci|cordialement|gracias|saludos)\b(?!.*(?:\?$| (?:but|my|aber|meine?[mnr]?|mais|mon|ma|mes|de|pero|mi)\b))/u;
/** What opens a talk, or asks for help with what the other sentences tell; folded. */
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
/** From such a line on a program or a company speaks; folded. */
const footer =
  /^(?:--$|[-_=*]{5,}$|get outlook\b|von meinem .{2,30} gesendet$|(?:sent (?:from|via|with)|gesendet (?:von|mit|uber)|envoye (?:de|depuis)|enviado (?:desde|de))\b[^.?!]{0,30}\b(?:iphone|ipad|ios|android|galaxy|samsung|huawei|pixel|phone|mobile|smartphone|handy|telefon|tablet|outlook|gmail|yahoo|mail)\b[^.?!]{0,20}[.!]?$|(?:this|diese) (?:e-?mail|message|nachricht)\b.*(?:confidential|intended|vertraulich))/u;
/** Lines of nothing but an address, and how to reach the writer. */
const place =
  /^(?:.{3,60} \d{1,4}\p{L}?, ?)?(?:[A-Z]{1,2}-)?\d{4,5} \p{Lu}[\p{L} .-]*$|^\p{Lu}[\p{L}. -]*(?:[Ss]treet|[Rr]oad|[Aa]venue|[Ll]ane|[Ss]tra(?:ß|ss)e|[Ss]tr\.|[Ww]eg|[Pp]latz|[Aa]llee) \d{1,4}\p{L}?$/u;
const reach =
  /^(?:(?:(?:tel|phone|fon|telefon|mobile?|mobil|fax)\b\.?:? ?)?\+?[\d /().-]{7,}|(?:(?:e-?mail|mail|web)\b:? ?)?(?:\S+@\S+|(?:https?:\/\/|www\.)\S+))$/iu;
const name = /^\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*){0,3}$/u;
/** Longer than any of these, in characters. */
const longestFormula = 120;
const longestSignature = 80;

const subjects = (text: string): number => terms(text).filter(({ weight }) => weight === 1).length;

/** Whether a question names too little itself to be understood without what was said before it. */
function leans(sentence: string): boolean {
  const named = subjects(sentence);
  return named === 0 || (named === 1 && leaning.test(fold(sentence)));
}

/** The lines that say something: without the lines on who wrote it, from where and with what. */
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

/** The sentences of a message that are no mere politeness. */
function saidIn(message: string): string[] {
  return spokenLines(message)
    .flatMap(asSentences)
    .filter((sentence) => {
      const plain = fold(sentence);
      if (!/[\p{L}\p{N}]/u.test(plain) || closing.test(plain)) return false;
      return !(plain.length <= longestFormula && polite.test(plain)) && courtesyIn(sentence) === undefined;
    });
}

/** The questions that one sentence joins ("How do I …, and where …?") and that name enough to be understood alone. */
function parts(sentence: string): string[] {
  const folded = fold(sentence);
  if (!asks.test(folded)) return [];
  return folded.split(nextQuestion).filter((part) => part !== folded && subjects(part) >= 2);
}

/** One way to understand a message: its questions one by one; a passage that answers one of them answers. */
export type Reading = { text: string; questions: string[] };
/** What is searched for, and how what is found is read: the reading that is answered best counts. */
export type Asking = {
  text: string;
  readings: Reading[];
  /** Nothing else is tried once this is answered; of others the best answered one counts. */
  settles: boolean;
};

const alone = (text: string): Reading => ({ text, questions: [text, ...parts(text)] });

/**
 * What a message asks, to be tried in this order. Where the sentences that ask name enough, each with what it leans on, they
 * alone count, and all that is said only when they find nothing. Where they name too little, or none asks, it is not known
 * which sentence matters: each is a reading, and so is the whole. A message of one sentence is searched for as it stands.
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
 * What to search for when a question leans on what was said before ("and for students?"): a question with fewer than two
 * words of its own subject is read together with what the customer asked before, as one sentence. Its own words come first,
 * for a long text is cut.
 */
export function contextualize(question: string, history: readonly { role: string; body: string }[]): string {
  if (subjects(question) >= 2) return question;
  const previous = history.findLast(({ role }) => role === 'customer' || role === 'user')?.body;
  if (previous === undefined) return question;
  const [first, whole = first] = askedIn(previous);
  const asked = (first.settles ? first : whole).text.split('\n').at(-1);
  return `${question.trim().replace(/[.!?？؟…]+$/u, '')} – ${asked}`;
}

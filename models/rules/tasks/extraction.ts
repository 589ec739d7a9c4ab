/**
 * The tasks in a transcript, by rules: what people promise, what they are asked for, and what has to be done. Every task has a
 * sentence of the transcript that says so, word for word. Pure.
 */
import { agreement, pointing, refusal, takenOn, urgency } from './commitwords.ts';
import { reader, type Commitment, type Doer } from './commitment.ts';
import { namesOf, someoneNamed, type Person, type Someone } from './people.ts';
import { taskBounds, usualPriority, type TaskPriority } from './task.ts';
import type { Said } from '../interviews/transcript.ts';
import { sentences } from '../language/sentences.ts';
import { terms } from '../language/words.ts';

/** What was found in one place of a transcript. */
export type FoundTask = {
  /** The segment's id. */
  segment: string;
  /** The words of the transcript that say it. */
  quote: string;
  title: string;
  /** The words before, where the title speaks of `it`. */
  context?: string;
  assignee?: Someone;
  priority: TaskPriority;
  due?: string;
};

/** Finds until when something is to be done: the words that say it, and the date. */
export type ReadDue = (text: string) => { text: string; due: string } | undefined;

export const extractionBounds = { tasks: 200, quote: 1_000 } as const;
/** A longer sentence is no clause that a person says; in characters. */
const maxClause = 600;
/** How many pieces of speech later a request may be taken on. */
const answersWithin = 2;

/** A task while the rest of the transcript is read. */
type Open = FoundTask & {
  /** The index of its segment. */
  at: number;
  asker: string;
  doer: Doer;
  stems: ReadonlySet<string>;
  urgent?: TaskPriority;
};

/** What `said` asks for, in the order in which it was said. `members`: who may be assigned. */
export function extractTasks(said: readonly Said[], members: readonly Person[], due: ReadDue): FoundTask[] {
  const people = said.filter(({ is_ai }) => !is_ai);
  const speakers = [...new Set(people.map(({ speaker }) => speaker))];
  const read = reader(namesOf([...members, ...speakers.map((name) => ({ name }))]));
  const known = { members, speakers, due };
  const open: Open[] = [];
  let last: string | undefined;
  people.forEach((segment, at) => {
    answer(open, segment, at, known);
    const parts = sentences(segment.text);
    parts.forEach((sentence, index) => {
      const before = parts[index - 1] ?? last;
      const place = { segment, at, sentence, before, after: parts[index + 1], read };
      for (const { clause, commitment } of commitmentsIn(sentence, read)) {
        // What was asked for before is meant.
        if (commitment.points) handOver(open, commitment.doer, segment, at, known);
        const found = commitment.points ? undefined : taskOf({ ...place, clause }, commitment, known);
        if (found && open.length < extractionBounds.tasks && !merged(open, found)) open.push(found);
      }
    });
    last = parts.at(-1) ?? last;
  });
  return open.map(({ segment, quote, title, context, assignee, priority, due: until, urgent }) => ({
    segment,
    quote,
    title,
    priority: urgent ?? priority,
    ...(context === undefined ? {} : { context }),
    ...(assignee ? { assignee } : {}),
    ...(until === undefined ? {} : { due: until }),
  }));
}

type Read = ReturnType<typeof reader>;

/** A sentence of two promises is two tasks. */
function commitmentsIn(sentence: string, read: Read): { clause: string; commitment: Commitment }[] {
  if (sentence.length > maxClause) return [];
  const parts = sentence.split(
    /(?:,\s*(?:and|but|so|then)|;|,|\s+and|\s+but|\s+then)\s+(?=(?:I|we|you|[\p{Lu}][\p{L}'’-]+(?:\s[\p{Lu}][\p{L}'’-]+)?)(?:['’]ll|\s+(?:will|need to|needs to|have to|has to|must|should|am going to|is going to|are going to|can you)\b)|(?:can|could|would) you\b|please\s)/u,
  );
  const pieces = parts.map((clause) => ({ clause, commitment: read(clause) }));
  const found = pieces.flatMap(({ clause, commitment }, index) =>
    commitment && !pieces.slice(0, index).some((piece) => supposing.test(piece.clause)) ? [{ clause, commitment }] : [],
  );
  if (parts.length > 1 && found.length > 1) return found;
  const whole = parts.length > 1 && found.length === 0 ? undefined : read(sentence);
  return whole ? [{ clause: sentence, commitment: whole }] : found;
}

const supposing = /\b(?:if|unless|in case)\b/iu;

type Place = {
  segment: Said;
  at: number;
  clause: string;
  sentence: string;
  /** The sentences before and after it; the one before may be somebody else's. */
  before: string | undefined;
  after: string | undefined;
  read: Read;
};
type Known = { members: readonly Person[]; speakers: readonly string[]; due: ReadDue };

function taskOf(
  { segment, at, clause, sentence, before, after, read }: Place,
  { doer, deed, weak }: Commitment,
  { members, speakers, due }: Known,
): Open | undefined {
  // A short sentence after it may say until when, and how urgent it is.
  const addition = after !== undefined && after.length < 80 && !read(after) ? after : '';
  const until = due(clause) ?? (clause === sentence ? undefined : due(sentence)) ?? additionalDue(addition, due);
  if (weak && !until) return undefined;
  const who = whoIs(doer, segment.speaker, speakers);
  const assignee = who === undefined ? undefined : someoneNamed(who, members);
  const title = titleFor(deed, until?.text);
  if (title === undefined) return undefined;
  const urgent = urgencyOf(sentence) ?? urgencyOf(addition);
  return {
    segment: segment.id,
    quote: clause.trim().slice(0, extractionBounds.quote),
    title,
    ...(before !== undefined && speaksOf.test(title) ? { context: before.slice(0, extractionBounds.quote) } : {}),
    ...(assignee ? { assignee } : {}),
    priority: usualPriority,
    ...(urgent ? { urgent } : {}),
    ...(until ? { due: until.due } : {}),
    at,
    asker: segment.speaker,
    doer,
    stems: new Set(terms(title).map(({ stem }) => stem)),
  };
}

const additionalDue = (addition: string, due: ReadDue) =>
  /^(?:(?:by|before|until|no later than|due)\b|(?:the )?deadline\b|(?:it|this|that)(?:'s| is) due\b|(?:I|we) need (?:it|this|that|them) (?:by|before|until|on)\b)/iu.test(
    addition,
  )
    ? due(addition)
    : undefined;

/** The name by which whoever is to do it is looked for. In a talk of two, `you` is the other one. */
function whoIs(doer: Doer, speaker: string, speakers: readonly string[]): string | undefined {
  if (typeof doer === 'object') return doer.named;
  if (doer === 'speaker') return speaker;
  if (doer === 'you' && speakers.length === 2) return speakers.find((name) => name !== speaker);
  return undefined;
}

export function urgencyOf(text: string): TaskPriority | undefined {
  if (urgency.low.test(text)) return 'low';
  if (urgency.urgent.test(text)) return 'urgent';
  return urgency.high.test(text) ? 'high' : undefined;
}

/** What somebody else asked for a moment ago. */
const askedBefore = (open: readonly Open[], { id, speaker }: Said, at: number): Open | undefined => {
  const asked = open.findLast((task) => task.doer !== 'speaker' && task.segment !== id && task.asker !== speaker);
  return asked && at - asked.at <= answersWithin ? asked : undefined;
};

/** A request that is taken on is that speaker's; one that is refused is nobody's task. */
function answer(open: Open[], segment: Said, at: number, { members, due }: Known): void {
  const { speaker, text } = segment;
  const asked = askedBefore(open, segment, at);
  if (!asked || asked.doer === 'everybody') return;
  const line = (sentences(text)[0] ?? '').replaceAll('’', "'");
  if (refusal.test(line)) {
    if (asked.doer === 'you' && at - asked.at === 1) open.splice(open.indexOf(asked), 1);
    return;
  }
  const deed = /\bI(?:'ll| will| can)\s+(.+)$/iu.exec(line)?.[1];
  const takes = takenOn.test(line) || (deed !== undefined && pointing.test(deed));
  if (!takes && !(agreement.test(line) && asked.doer !== 'somebody')) return;
  const assignee = someoneNamed(speaker, members);
  if (assignee && !asked.assignee) asked.assignee = assignee;
  const until = asked.due === undefined ? due(text) : undefined;
  if (until) asked.due = until.due;
}

/** `Can you do that, Bob?`, of what was said just before. */
function handOver(open: readonly Open[], doer: Doer, { speaker }: Said, at: number, known: Known): void {
  const meant = open.at(-1);
  if (!meant || meant.assignee || at - meant.at > answersWithin) return;
  const who = doer === 'speaker' ? undefined : whoIs(doer, speaker, known.speakers);
  const assignee = who === undefined ? undefined : someoneNamed(who, known.members);
  if (assignee) meant.assignee = assignee;
  else if (doer === 'you') Object.assign(meant, { doer, asker: speaker, at });
}

/** Whether it was said before, by the same or of nobody: then only what is new of it is taken. */
function merged(open: readonly Open[], found: Open): boolean {
  const same = open.findLast((task) => {
    // `Sure, I'll write to them`: what was just asked of the speaker, in other words.
    const answers = task.doer !== 'speaker' && found.doer === 'speaker' && found.at - task.at === 1;
    if (answers && speaksOf.test(found.title) && sameOne(task, found)) return true;
    if (task.assignee && found.assignee && !sameOne(task, found)) return false;
    const smaller = Math.min(task.stems.size, found.stems.size);
    if (smaller < 2) return false;
    return [...found.stems].filter((stem) => task.stems.has(stem)).length / smaller >= 0.75;
  });
  if (!same) return false;
  if (!same.assignee && found.assignee) same.assignee = found.assignee;
  if (same.due === undefined && found.due !== undefined) same.due = found.due;
  if (!same.urgent && found.urgent) same.urgent = found.urgent;
  return true;
}

const sameOne = (one: FoundTask, other: FoundTask): boolean =>
  one.assignee !== undefined && JSON.stringify(one.assignee) === JSON.stringify(other.assignee);

/** A title that names nothing by itself. */
const speaksOf =
  /\b(?:it|them)\b|\b(?:this|that|those|these|one)(?=$|\s+(?:to|for|by|when|before|with|and|on|in|too)\b)/iu;

/** The deed as a title: without its date, its urgency and what is polite. */
function titleFor(deed: string, date: string | undefined): string | undefined {
  let text = deed;
  if (date !== undefined) text = withoutDate(text, date);
  text = text
    .replaceAll(
      /[,;–-]?\s*(?:\b(?:as soon as (?:possible|you can|I can)|asap|urgently|immediately|right away|straight away|please|no rush(?: though)?|no hurry|when you (?:have|get) (?:a chance|time|a moment)|it is not urgent|it's not urgent)\b)/giu,
      ' ',
    )
    .replace(
      /^(\p{L}+) (?:you|me|us)(?: all| both)? (?=(?:the|a|an|my|your|our|this|that|these|those|some|all|both)\b)/iu,
      '$1 ',
    )
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/\s+([,.;:!?])/gu, '$1')
    .replace(/[\s,.;:!?–-]+$/u, '')
    .trim();
  if (!/\p{L}{2}/u.test(text)) return undefined;
  const title = text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  return title.length <= taskBounds.title ? title : `${title.slice(0, taskBounds.title - 1).trimEnd()}…`;
}

function withoutDate(text: string, date: string): string {
  const at = text.indexOf(date);
  if (at < 0) return text;
  const before = text
    .slice(0, at)
    .replace(/,?\s*\b(?:by|on|before|until|till|at|in|within|due|no later than|for|over)\s*(?:the\s*)?$/iu, '');
  const rest = text.slice(at + date.length);
  return `${before.trimEnd()}${rest.startsWith(' ') ? rest : ` ${rest}`}`.trim();
}

/**
 * Reviews an English task for its assignee: what is missing, what is vague, and a better wording. The wording adds
 * nothing that the task does not say. Pure.
 */
import { reader } from './meetings/commitments.ts';
import { openStatuses, taskBounds, type TaskDetails } from '../../models/rules/tasks/task.ts';

export type ReviewedField = 'title' | 'description' | 'assigned_to' | 'due_date' | 'status';
export type Finding = { field: ReviewedField; message: string };
export type Vague = Finding & { words: string[] };
export type Wording = { title: string; description: string };
export type Findings = { missing: Finding[]; vague: Vague[]; suggestion: Wording };

export type Reviewed = Readonly<TaskDetails> & { readonly source_quote?: string };

/** Words that leave open what, how much, or when; `message` says what to write instead. */
const vagueWords: readonly { words: RegExp; message: string }[] = [
  {
    words: /\b(?:stuff|things?|something|somehow|some|several|various|whatever|misc|etc|and so on)\b\.?/giu,
    message: 'Say which, or how many.',
  },
  {
    words: /\b(?:asap|soon|later|quickly|eventually|at some point|sometime|one day|when possible|next time)\b/giu,
    message: 'Give a date.',
  },
  {
    words: /\b(?:maybe|perhaps|possibly|probably|try to|should probably|if possible|might|tbd|to be decided)\b/giu,
    message: 'Decide, or say who decides.',
  },
  {
    words:
      /\b(?:improve|optimi[sz]e|enhance|handle|deal with|take care of|look into|look at|sort out|work on|think about|better|properly|nicer?|user-friendly|appropriate(?:ly)?|as needed|clean up)\b/giu,
    message: 'Say what has to be true when it is done.',
  },
];

/** A pronoun in a title, where nothing before it could be its referent. */
const pronoun =
  /^(?!.*\b(?:the|a|an|my|our|your|his|her|their)\b.*\b(?:it|them|this|that|these|those)\b).*?\b(it|them|(?:this|that|these|those)(?=\s*(?:$|[.,;:!?]|\b(?:again|too|now|for|to|with|by|when|before|in|on|asap)\b)))\b(?!-)/iu;

const vagueIn = (field: 'title' | 'description', text: string): Vague[] =>
  vagueWords.flatMap(({ words, message }) => {
    const found = [...new Set([...text.matchAll(words)].map(([word]) => word.toLowerCase()))];
    return found.length > 0 ? [{ field, words: found, message }] : [];
  });

/** A title needs at least this many words: a verb and its object. */
const minTitleWords = 2;

/** `today`: the current day as `YYYY-MM-DD`. */
export function findingsOf(task: Reviewed, today: string): Findings {
  const { title, description = '', due_date } = task;
  const missing: Finding[] = [];
  if (task.assigned_to === undefined && task.assignee_email === undefined)
    missing.push({ field: 'assigned_to', message: 'Nobody is to do it: assign a member, or give an address.' });
  if (due_date === undefined) missing.push({ field: 'due_date', message: 'There is no day until which it is due.' });
  if (description.trim() === '')
    missing.push({ field: 'description', message: 'Say what has to be true when it is done, and where to begin.' });
  const named = pronoun.exec(title.slice(0, taskBounds.title))?.[1];
  const vague: Vague[] = [
    // `IT` in capitals is a department, not a pronoun.
    ...(named === undefined || named === 'IT'
      ? []
      : [{ field: 'title' as const, words: [named.toLowerCase()], message: 'Name the thing instead.' }]),
    ...vagueIn('title', title),
    ...vagueIn('description', description),
  ];
  if ((title.match(/[\p{L}\p{N}]+/gu) ?? []).length < minTitleWords)
    vague.push({ field: 'title', words: [title], message: 'Say what is to be done, and with what.' });
  if (due_date !== undefined && openStatuses.includes(task.status) && due_date.slice(0, 10) < today)
    vague.push({
      field: 'due_date',
      words: [due_date],
      message: 'This day is over: give another one, or close the task.',
    });
  return { missing, vague, suggestion: wordingOf(task, missing) };
}

const readOrder = reader([]);

/**
 * The suggested wording: the title as an imperative; the description with the quote from the meeting and the open
 * questions.
 */
function wordingOf({ title, description = '', source_quote }: Reviewed, missing: readonly Finding[]): Wording {
  const read = readOrder(title);
  const plain = (read && typeof read.doer !== 'object' && read.doer !== 'everybody' ? read.deed : title)
    .replace(/^(?:please|pls|kindly|just|todo|to do|action item)\b[:,\s]*/iu, '')
    .replaceAll(/,?\s*\b(?:please|asap|maybe|perhaps|possibly|probably)\b/giu, '')
    .replaceAll(/\s+/gu, ' ')
    .replace(/[\s.,;:!?–-]+$/u, '')
    .trim();
  const asOrder = (plain || title).replace(/^\p{Ll}/u, (letter) => letter.toUpperCase()).slice(0, taskBounds.title);
  const open = missing.map(({ field }) => questions[field]).filter((question) => question !== undefined);
  const parts = [
    description.trim(),
    source_quote !== undefined && !description.includes(source_quote) ? `Said in the meeting: “${source_quote}”` : '',
    open.length > 0 ? `To be settled: ${open.join('; ')}.` : '',
  ];
  const text = parts.filter((part) => part !== '').join('\n\n');
  return { title: asOrder, description: text.slice(0, taskBounds.description) };
}

const questions: Readonly<Partial<Record<ReviewedField, string>>> = {
  assigned_to: 'who does it',
  due_date: 'until when',
  description: 'how to tell that it is done',
};

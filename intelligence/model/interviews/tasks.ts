/**
 * Has the model find the tasks in a meeting's transcript. The model only points to words: each task must quote the
 * transcript. This file computes the due dates and matches the assignees to members.
 */
import { z } from 'zod';
import type { Structured } from '../ai.ts';
import type { FoundTasks, TasksAsk } from '../../intelligence.ts';
import { findDue } from '../../offline/meetings/due.ts';
import { addressIn, someoneNamed } from '../../offline/meetings/people.ts';
import { urgencyOf } from '../../offline/meetings/reading.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { priorities, usualPriority } from '../../../models/rules/base/priority.ts';
import { Problem } from '../../../models/rules/base/errors.ts';
import { extractionBounds, type FoundTask } from '../../../models/rules/interviews/found.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';
import { escaped } from '../../../models/rules/language/pattern.ts';

/**
 * The model's input per request, in characters (about 12,000 tokens), and the maximum number of requests. Together they
 * suffice for the transcript of an afternoon.
 */
const maxRead = 48_000;
const maxParts = 4;

const shape = z.object({
  tasks: z
    .array(
      z.object({
        title: z.string().min(1).max(1_000),
        quote: z.string().min(3).max(2_000),
        assignee: z.string().max(200).nullable(),
        due: z.string().max(200).nullable(),
        priority: z.enum(priorities).nullable(),
      }),
    )
    .max(extractionBounds.tasks),
});
type Pointed = z.infer<typeof shape>['tasks'][number];

const task = `You list the tasks that people take on in a meeting, from its transcript: what somebody promises to do after it, is asked to do and does not refuse, or what has to be done. Leave out small talk, what is done already, what is only considered, and what depends on an "if". Each task once, with these fields. "title": what is to be done, as a short order in the language of the transcript. "quote": the words of one line that say it, copied letter by letter without the speaker's name. "assignee": the name or e-mail address of whoever is to do it, as the transcript writes it; of "I" it is the speaker; null when nobody is named. "due": the words that say until when, copied from the transcript; compute no dates; null when nothing was said. "priority": only where the words say how urgent it is, else null.`;

/** @throws Problem MODEL_FAILED, also when the transcript is too long for the model. */
export async function tasksByModel(ai: Structured, recorded: TasksAsk): Promise<FoundTasks> {
  const parts = partsOf(byPeople(recorded.said));
  if (parts.length === 0) return { tasks: [], possible: [], generated_by: 'extractive' };
  if (parts.length > maxParts)
    throw new Problem('MODEL_FAILED', { message: 'The transcript is too long for a model.' });
  const found = await Promise.all(parts.map(async (part) => pointOut(ai, part, recorded)));
  return { tasks: found.flat().slice(0, extractionBounds.tasks), possible: [], generated_by: 'model' };
}

const byPeople = (said: readonly Said[]): Said[] => said.filter(({ is_ai }) => !is_ai);

/** Whether the model can read the whole transcript for tasks. */
export const isReadable = (said: readonly Said[]): boolean => partsOf(byPeople(said)).length <= maxParts;

/** Splits a transcript into parts, one per request to the model. No segment is split. */
function partsOf(said: readonly Said[]): Said[][] {
  const parts: Said[][] = [];
  let length = maxRead;
  for (const one of said) {
    const size = one.speaker.length + one.text.length + 3;
    if (length + size > maxRead) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)!.push(one);
    length += size;
  }
  return parts;
}

async function pointOut({ structured }: Structured, said: readonly Said[], recorded: TasksAsk): Promise<FoundTask[]> {
  const { tasks } = await structured({
    name: 'meeting_tasks',
    task,
    data: { transcript: said.map(({ speaker, text }) => `${speaker}: ${text}`).join('\n') },
    shape,
    problemOf: (value) => quotesProblem(value.tasks, said),
  });
  return tasks.map((pointed) => taskOf(pointed, said, recorded));
}

const plain = (text: string): string => text.replaceAll('’', "'").replaceAll(/\s+/gu, ' ').trim().toLowerCase();
const segmentWith = (quote: string, said: readonly Said[]): Said | undefined =>
  said.find(({ text }) => plain(text).includes(plain(quote)));

function quotesProblem(tasks: readonly Pointed[], said: readonly Said[]): string | undefined {
  const wrong = tasks.find(({ quote }) => !segmentWith(quote, said));
  return (
    wrong && `the quote ${JSON.stringify(wrong.quote.slice(0, 200))} does not stand in any line of the transcript.`
  );
}

/** Whether the transcript has this address, and not only as a part of a longer one. */
function hasAddress(said: readonly Said[], email: string): boolean {
  const whole = new RegExp(String.raw`(?<![\p{L}\p{N}._+-])${escaped(email)}(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])`, 'iu');
  return said.some(({ speaker, text }) => whole.test(speaker) || whole.test(text));
}

/**
 * The assignee that the model names. Null when the model names an e-mail address that the transcript does not have,
 * because a task can be mailed to its assignee's address.
 */
function ownerOf({ assignee }: Pointed, said: readonly Said[]): string | null {
  const email = assignee === null ? undefined : addressIn(assignee);
  return email === undefined || hasAddress(said, email) ? assignee : null;
}

function taskOf(pointed: Pointed, said: readonly Said[], { members, startedAt, zone }: TasksAsk): FoundTask {
  const { id, text } = segmentWith(pointed.quote, said)!;
  const owner = ownerOf(pointed, said);
  const assignee = owner === null ? undefined : someoneNamed(owner, members);
  // The model's words for a due date are used only if they occur in the quoted segment.
  const words = pointed.due !== null && plain(text).includes(plain(pointed.due)) ? pointed.due : undefined;
  const due = words === undefined ? undefined : findDue(words, startedAt, zone);
  const title = pointed.title.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim() || pointed.quote;
  return {
    segment: id,
    quote: wordsOf(pointed.quote, text),
    title: title.slice(0, extractionBounds.title),
    priority: pointed.priority ?? urgencyOf(pointed.quote) ?? usualPriority,
    ...(owner === null ? {} : { owner }),
    ...(assignee ? { assignee } : {}),
    ...defined({ due: due?.due, dueDay: due?.dueDay }),
  };
}

/** The quote in the transcript's spelling, because the model may have changed whitespace and case. */
function wordsOf(quote: string, text: string): string {
  const loose = quote
    .trim()
    .split(/\s+/u)
    .map((word) => escaped(word).replaceAll(/['’]/gu, "['’]"))
    .join(String.raw`\s+`);
  return (new RegExp(loose, 'iu').exec(text)?.[0] ?? quote).slice(0, extractionBounds.quote);
}

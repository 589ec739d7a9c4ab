/**
 * Evaluates tasks and summaries of meetings without a language model. The functions are called directly; no system is
 * started. `npm run bench -- meetings FOLDER` (or `MEETINGS=FOLDER`): the folder has labelled transcripts, which are
 * not part of the repository. Each figure is given twice: with the current weights, and with weights fitted without the
 * meeting's team.
 */
import { longestFirst, lexRank, firstSentences } from './meetings/peers.ts';
import { holdsHalf, isDueRight, pairedReal, pairedWritten, rouge1 } from './meetings/count.ts';
import { membersOf, readMeetings, saidIn, type Meeting, type Real, type Written } from './meetings/data.ts';
import { heldOut, startedAt, zone } from './meetings/fit.ts';
import fitted from '../intelligence/offline/meetings/firmness.json' with { type: 'json' };
import type { Firmness } from '../intelligence/offline/meetings/firmness.ts';
import { summarizeMeeting } from '../intelligence/offline/meetings/summary.ts';
import { findTasks } from '../intelligence/offline/meetings/tasks.ts';
import { shortWords } from '../models/rules/interviews/summary.ts';
import type { FoundTask } from '../models/rules/interviews/found.ts';

type Judged = { meeting: Meeting; firmness: Firmness };
const percent = (part: number, whole: number): string =>
  whole === 0 ? 'none' : `${((100 * part) / whole).toFixed(0)} % (${part} of ${whole})`;
const line = (name: string, asked: string, seen: string): void =>
  console.log(`  ${name.padEnd(52)} ${asked.padEnd(14)} ${seen}`);
const sum = <T>(of: readonly T[], value: (one: T) => number): number => of.reduce((all, one) => all + value(one), 0);
const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => word !== '').length;

export async function run(): Promise<void> {
  const folder = process.argv[3] ?? process.env['MEETINGS'];
  if (folder === undefined)
    throw new Error('Name the folder that holds the meetings: npm run bench -- meetings FOLDER');
  const meetings = await readMeetings(folder);
  const asTheyAre = meetings.map((meeting) => ({ meeting, firmness: fitted }));
  console.log(`${meetings.length} meetings                                       asked          seen`);
  console.log('Tasks, with the weights as they are:');
  tasks(asTheyAre);
  console.log('Tasks, each meeting with weights that were fitted without its team:');
  tasks(heldOut(meetings));
  console.log('Summaries:');
  summaries(meetings);
}

type Found<M> = { meeting: M; tasks: FoundTask[] };

function tasks(judged: readonly Judged[]): void {
  const found = judged.map(({ meeting, firmness }) => ({
    meeting,
    tasks: findTasks(saidIn(meeting), { members: membersOf(meeting), startedAt, zone }, firmness).tasks,
  }));
  written(found.filter((one): one is Found<Written> => one.meeting.kind === 'written'));
  real(found.filter((one): one is Found<Real> => one.meeting.kind === 'ami'));
}

function written(found: readonly Found<Written>[]): void {
  const counted = found.map((one) => ({ ...one, ...pairedWritten(one.tasks, one.meeting) }));
  const pairs = counted.flatMap((one) => one.pairs);
  const made = sum(found, (one) => one.tasks.length);
  const traps = found.flatMap(({ meeting, tasks: all }) =>
    meeting.non_tasks.map(({ lines }) => all.some(({ segment }) => isTrap(meeting, lines, segment))),
  );
  const owned = pairs.filter(({ label }) => label.assignee !== null);
  line(
    'written: recall',
    '80 %',
    percent(
      pairs.length,
      sum(found, ({ meeting }) => meeting.tasks.length),
    ),
  );
  line(
    'written: precision',
    '92 %',
    percent(
      sum(counted, ({ fitting }) => fitting.length),
      made,
    ),
  );
  line('written: traps', '', percent(traps.filter(Boolean).length, traps.length));
  line(
    'written: assignee',
    '90 %',
    percent(owned.filter(({ task, label }) => task.owner === label.assignee).length, owned.length),
  );
  line(
    'written: due date',
    '88 %',
    percent(pairs.filter(({ task, label }) => isDueRight(task.due, label, startedAt, zone)).length, pairs.length),
  );
  line(
    'written: titles that hold half of the label',
    '50 %',
    percent(pairs.filter(({ task, label }) => holdsHalf(task.title, label)).length, pairs.length),
  );
}

/** Whether a segment is a trap, that is, a line that must not yield a task. */
const isTrap = ({ tasks: labels }: Written, lines: readonly number[], segment: string): boolean =>
  lines.includes(Number(segment)) && !labels.some((label) => label.lines.includes(Number(segment)));

function real(found: readonly Found<Real>[]): void {
  const counted = found.map((one) => ({ ...one, ...pairedReal(one.tasks, one.meeting) }));
  const without = found.filter(({ meeting }) => meeting.actions.length === 0);
  line('real: tasks a meeting, at most', '3', String(Math.max(...found.map((one) => one.tasks.length))));
  line(
    'real: recall',
    '25 %',
    percent(
      sum(counted, ({ pairs }) => pairs.length),
      sum(found, ({ meeting }) => meeting.actions.length),
    ),
  );
  line(
    'real: precision',
    '30 %',
    percent(
      sum(counted, ({ fitting }) => fitting.length),
      sum(found, (one) => one.tasks.length),
    ),
  );
  line(
    'real: meetings without actions that got a task',
    'at most 1 of 4',
    `${without.filter((one) => one.tasks.length > 0).length} of ${without.length}`,
  );
}

function summaries(meetings: readonly Meeting[]): void {
  const made = meetings.map((meeting) => ({
    meeting,
    short: summarizeMeeting(saidIn(meeting), { members: membersOf(meeting), startedAt, zone }, 'short').summary,
  }));
  line('short: words, at most', String(shortWords), String(Math.max(...made.map(({ short }) => wordsIn(short)))));
  const scored = (name: string, asked: string, summaryOf: (one: (typeof made)[number]) => string): void => {
    const abstracts = made.flatMap((one) =>
      one.meeting.kind === 'ami' ? [rouge1(summaryOf(one), one.meeting.abstract)] : [],
    );
    const facts = made.flatMap((one) =>
      one.meeting.kind === 'written'
        ? one.meeting.facts.map(({ pattern }) => new RegExp(pattern, 'iu').test(summaryOf(one)))
        : [],
    );
    const rouge = (100 * sum(abstracts, (value) => value)) / abstracts.length;
    line(name, asked, `ROUGE-1 ${rouge.toFixed(1)}, facts ${percent(facts.filter(Boolean).length, facts.length)}`);
  };
  scored('short', '28, 60 %', ({ short }) => short);
  scored('  first 5 sentences', '', ({ meeting }) => firstSentences(saidIn(meeting), 5));
  scored('  longest 5 sentences', '', ({ meeting }) => longestFirst(saidIn(meeting), 5));
  scored('  LexRank, as many words', '', ({ meeting, short }) => lexRank(saidIn(meeting), wordsIn(short)));
}

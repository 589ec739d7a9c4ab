/** The weights of intelligence/offline/meetings/firmness.json: fitted on meetings with labels, and on all but one team's. */
import { membersOf, saidIn, teamOf, type Meeting } from './data.ts';
import { pairedReal, pairedWritten } from './count.ts';
import { fitLogistic } from '../calibrate/logistic.ts';
import { firmnessOf, valuesOf, type Firmness, type Signs } from '../../intelligence/offline/meetings/firmness.ts';
import { reasonOf, signsOf, titleFor } from '../../intelligence/offline/meetings/tasks.ts';
import { unitsIn } from '../../intelligence/offline/meetings/units.ts';
import { someoneNamed } from '../../intelligence/offline/meetings/people.ts';
import lines from '../../test/fixtures/tasks/lines.json' with { type: 'json' };
import { usualPriority } from '../../models/rules/base/priority.ts';

/** In examples. */
const ridge = 4;
/** Of the candidates of real meetings that pass, so many must be right, where the threshold is fitted. */
const wantedPrecision = 0.85;

/** The length of a short meeting, in sentences. */
const shortLength = 60;

/** What all meetings are counted from. */
export const startedAt = new Date('2026-11-24T10:00:00Z');
export const zone = 'UTC';

/** The candidates of a meeting, each with whether it fits a label. */
function samplesOf(meeting: Meeting) {
  const members = membersOf(meeting);
  const { units, length } = unitsIn(saidIn(meeting), { members, startedAt, zone });
  const open = units.flatMap((unit) => {
    const title = titleFor(unit);
    if (title === undefined || reasonOf(unit, title) !== undefined) return [];
    const assignee = someoneNamed(unit.owner!, members);
    const task = {
      segment: unit.segment.id,
      quote: unit.quote,
      title,
      priority: usualPriority,
      ...(assignee ? { assignee } : {}),
    };
    return [{ signs: signsOf(unit, length), task }];
  });
  const tasks = open.map(({ task }) => task);
  const { fitting } = meeting.kind === 'ami' ? pairedReal(tasks, meeting) : pairedWritten(tasks, meeting);
  return open.map(({ signs, task }) => ({ signs, right: fitting.includes(task) }));
}

/** Single lines of which it is known whether they are a task (test/fixtures/tasks/lines.json), as if of a short meeting. */
function samplesOfLines(): { signs: Signs; right: boolean }[] {
  const members = ['Ada Lovelace', 'Bob Miller', 'Carol Danvers'].map((name) => ({
    userId: name,
    name,
    email: `${name.split(' ')[0]!.toLowerCase()}@example.com`,
  }));
  return (lines as [string, string, object | null][]).flatMap(([speaker, text, wanted]) => {
    const said = [[speaker, text] as const, ['Zoe', 'Hm.'] as const, ['Yan', 'Hm.'] as const].map(
      ([name, words], n) => ({
        id: String(n),
        speaker: name,
        text: words,
        at: new Date(n),
        is_ai: false,
      }),
    );
    const { units } = unitsIn(said, { members, startedAt, zone });
    return units
      .filter((unit) => reasonOf(unit, titleFor(unit)) === undefined)
      .map((unit) => ({ signs: { ...signsOf(unit, shortLength), late: 0.5 }, right: wanted !== null }));
  });
}

export function fitFirmness(meetings: readonly Meeting[]): Firmness {
  const samples = meetings.map((meeting) => ({ meeting, found: samplesOf(meeting) }));
  const examples = [...samples.flatMap(({ found }) => found), ...samplesOfLines()].map(({ signs, right }) => ({
    values: valuesOf(signs),
    right,
    weight: 1,
  }));
  const model = { ...fitLogistic(examples, ridge), threshold: 0 };
  const ranked = samples
    .filter(({ meeting }) => meeting.kind === 'ami')
    .flatMap(({ found }) => found.map(({ signs, right }) => ({ worth: firmnessOf(signs, model), right })))
    .toSorted((a, b) => b.worth - a.worth);
  let right = 0;
  let threshold = ranked[0]?.worth ?? 0;
  ranked.forEach((one, at) => {
    if (one.right) right += 1;
    if (right / (at + 1) >= wantedPrecision) threshold = one.worth;
  });
  const round = (value: number): number => Number(value.toFixed(3));
  // Rounded down, so that the last one that passes still does.
  return {
    intercept: round(model.intercept),
    weights: model.weights.map(round),
    threshold: Math.floor(threshold * 100) / 100,
  };
}

/** Each meeting with weights that were fitted without its team. */
export function heldOut(meetings: readonly Meeting[]): { meeting: Meeting; firmness: Firmness }[] {
  const teams = [...new Set(meetings.map(teamOf))];
  return teams.flatMap((team) => {
    const firmness = fitFirmness(meetings.filter((meeting) => teamOf(meeting) !== team));
    return meetings.filter((meeting) => teamOf(meeting) === team).map((meeting) => ({ meeting, firmness }));
  });
}

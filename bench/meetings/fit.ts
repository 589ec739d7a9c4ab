/**
 * The weights of intelligence/offline/meetings/firmness.json. They are fitted on all labelled meetings and, for
 * evaluation, once per team with that team left out.
 */
import { membersOf, saidIn, teamOf, type Meeting } from './data.ts';
import { pairedReal, pairedWritten } from './count.ts';
import { fitLogistic } from '../calibrate/logistic.ts';
import { firmnessOf, valuesOf, type Firmness, type Signs } from '../../intelligence/offline/meetings/firmness.ts';
import { reasonOf, signsOf, titleFor } from '../../intelligence/offline/meetings/tasks.ts';
import { unitsIn } from '../../intelligence/offline/meetings/units.ts';
import { someoneNamed } from '../../intelligence/offline/meetings/people.ts';
import lines from '../../test/fixtures/tasks/lines.json' with { type: 'json' };
import { usualPriority } from '../../models/rules/base/priority.ts';

/** The strength of the L2 regularization, as an equivalent number of examples. */
const ridge = 4;
/** The threshold is fitted so that at least this share of the accepted candidates of real meetings is right. */
const wantedPrecision = 0.85;

/** The length of a short meeting, in sentences. */
const shortLength = 60;

/** The start of all meetings, from which dates are computed. */
export const startedAt = new Date('2026-11-24T10:00:00Z');
export const zone = 'UTC';

/** The candidates of a meeting, each with whether it matches a label. */
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

/** Single lines labelled as task or not (test/fixtures/tasks/lines.json), treated as if from a short meeting. */
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
  // The threshold is rounded down, so that the last accepted candidate still passes.
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

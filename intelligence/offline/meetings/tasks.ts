/**
 * Finds the tasks in an English transcript without a model. A request, the reply, its assignee and its due date are
 * combined into one candidate. A candidate that is not certain enough is listed as possible, and a person decides. Each
 * task quotes the transcript.
 */
import fitted from './firmness.json' with { type: 'json' };
import { firmnessOf, neededFor, type Firmness, type Signs } from './firmness.ts';
import { meant, subjectOf } from './nouns.ts';
import { someoneNamed } from './people.ts';
import type { Meeting, Unit } from './reading.ts';
import { hasPronoun, plainDeed, titleOf, withMeant } from './titles.ts';
import { unitsIn } from './units.ts';
import { idleTalk, shownHere } from './words.ts';
import { usualPriority } from '../../../models/rules/base/priority.ts';
import {
  extractionBounds,
  type FoundTask,
  type PossibleReason,
  type PossibleTask,
  type Someone,
} from '../../../models/rules/interviews/found.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';
import { defined } from '../../../models/rules/base/defined.ts';

export type FoundTasks = { tasks: FoundTask[]; possible: PossibleTask[] };

/**
 * `firmness`: the weights to use. The default weights were fitted on all labelled meetings, so they cannot be tested on
 * them.
 */
export function findTasks(said: readonly Said[], meeting: Meeting, firmness: Firmness = fitted): FoundTasks {
  const judged = judge(unitsIn(said, meeting), firmness);
  const tasks = judged.flatMap(({ unit, reason, title }) => {
    if (reason !== undefined || title === undefined) return [];
    const assignee = someoneOf(unit, meeting);
    const before = unit.before.at(-1);
    return [
      {
        segment: unit.segment.id,
        quote: unit.quote,
        title,
        ...(before !== undefined && hasPronoun(unit.deed) ? { context: before.slice(0, extractionBounds.quote) } : {}),
        ...defined({ owner: unit.owner, due: unit.due?.due, dueDay: unit.due?.dueDay }),
        ...(assignee ? { assignee } : {}),
        priority: unit.urgent ?? usualPriority,
      },
    ];
  });
  const possible = judged
    .flatMap(({ unit, reason, worth }) => (reason === undefined ? [] : [{ unit, reason, worth }]))
    .toSorted((a, b) => b.worth - a.worth)
    .slice(0, extractionBounds.possible)
    .toSorted((a, b) => a.unit.sentence - b.unit.sentence)
    .map(({ unit, reason }) => ({ quote: unit.quote, speaker: unit.segment.speaker, reason }));
  return { tasks: tasks.slice(0, extractionBounds.tasks), possible };
}

const someoneOf = ({ owner }: Unit, { members }: Meeting): Someone | undefined =>
  owner === undefined ? undefined : someoneNamed(owner, members);

/** A task candidate with its title, the reason why it is not a task (if any), and its score. */
type Judged = { unit: Unit; title: string | undefined; reason: PossibleReason | undefined; worth: number };

function judge({ units, length }: { units: readonly Unit[]; length: number }, firmness: Firmness): Judged[] {
  const judged = units.map((unit): Judged => {
    const title = titleFor(unit);
    return { unit, title, reason: reasonOf(unit, title), worth: firmnessOf(signsOf(unit, length), firmness) };
  });
  judged
    .filter(({ reason }) => reason === undefined)
    .toSorted((a, b) => b.worth - a.worth)
    .forEach((one, nth) => {
      if (one.worth < neededFor(nth, Math.log(length), firmness)) one.reason = 'uncertain';
    });
  return judged;
}

export function titleFor({ deed, before, own, ownBefore, due }: Unit): string | undefined {
  const resolved = withMeant(plainDeed(deed), own === '' ? before : [...before, own], meant);
  return resolved === undefined
    ? undefined
    : titleOf(resolved, due?.text, () => subjectOf(before, ownBefore, resolved));
}

/** Matches a condition, which makes a task uncertain. The `if` of `check if it works` is no condition. */
const depending =
  /(?<!\b(?:see|check|know|ask|tell|find out|out|wonder|sure|as|even|test|verify|decide) )\b(?:if|unless)\b(?! (?:you (?:like|want|wish|can|could|don't mind)|possible|that's (?:ok|okay|fine|alright)|that helps|necessary|needed)\b)/iu;

/** Why a candidate is not a task, whatever its score; undefined when it may be one. */
export function reasonOf(unit: Unit, title: string | undefined): PossibleReason | undefined {
  if (unit.refused) return 'refused';
  if (unit.isDone || idleTalk.test(unit.deed)) return 'in_meeting';
  if (shownHere.test(unit.deed) && !unit.due && unit.form !== 'label') return 'in_meeting';
  if (unit.form === 'proposal' && unit.owner === undefined) return 'suggestion';
  if (unit.form === 'offer' && !unit.accepted) return 'not_accepted';
  if (unit.owner === undefined) return 'no_owner';
  if (title === undefined) return 'unresolved';
  if (unit.form !== 'request' && !unit.accepted && depending.test(unit.quote)) return 'uncertain';
  return unit.weak && !unit.due && !unit.accepted ? 'uncertain' : undefined;
}

/** The features of a task candidate for the firmness model. */
export function signsOf(unit: Unit, length: number): Signs {
  const named = typeof unit.doer === 'object';
  return {
    length: Math.log(length),
    late: length > 0 ? unit.sentence / length : 0,
    form: unit.form,
    named,
    accepted: unit.accepted,
    due: unit.due !== undefined,
    deed: unit.deed,
    quote: unit.quote,
    weak: unit.weak,
    before: unit.before,
  };
}

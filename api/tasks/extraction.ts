/**
 * Extracts tasks from meetings. Only a meeting's owner may extract them, for an organization that the owner belongs to.
 */
import type { Context } from '../context.ts';
import { startSaved } from '../../workflows/start.ts';
import { peopleOf } from '../access/people.ts';
import { countDigest } from '../interviews/meeting.ts';
import { findOrganization, type Organization } from '../../models/access/organization.ts';
import { findMeeting, type Meeting } from '../../models/interviews/meeting.ts';
import { readTranscript, type Segment } from '../../models/interviews/transcript.ts';
import {
  createExtracted,
  findExtraction,
  noteExtraction,
  removeTasksOf,
  sourceKey,
} from '../../models/tasks/extracted.ts';
import { TaskModel, type Cause, type Changed } from '../../models/tasks/task.ts';
import { noSuch, Problem } from '../../models/rules/base/errors.ts';
import { sentences } from '../../models/rules/language/sentences.ts';
import type { FoundTask, PossibleTask } from '../../models/rules/interviews/found.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** The organization, if the user is a member. @throws Problem NOT_FOUND */
export async function organizationOf(userId: string, orgId: string): Promise<Organization> {
  const org = await findOrganization(orgId);
  if (org?.members.some(({ user_id }) => user_id === userId)) return org;
  throw noSuch('organization');
}

/**
 * Extracts the tasks of a transcript, and stores those that were not stored before. Nothing is stored when the
 * transcript has not grown since the last extraction, unless rules made that extraction and a model can make this one.
 * Returns the number of stored tasks, whether rules or a model extracted them, and possible tasks that a person must
 * confirm.
 * @throws Problem NO_TRANSCRIPT, RATE_LIMITED, UNAVAILABLE, NOT_FOUND when the meeting was deleted meanwhile.
 */
export async function extractFrom(
  ctx: Context,
  meeting: Meeting,
  org: Organization,
): Promise<{ created: number; possible: PossibleTask[]; generated_by: 'extractive' | 'model' }> {
  const said = await readTranscript(meeting._id);
  if (said.length === 0) throw new Problem('NO_TRANSCRIPT', { message: 'This meeting has no transcript yet.' });
  const before = await findExtraction(meeting._id, org._id);
  const isByModel = before?.generated_by === 'model';
  const isKnown = before?.version === said.length && (isByModel || !ctx.intelligence.asksModel);
  if (isKnown && isByModel) return { created: 0, possible: [], generated_by: 'model' };
  await countDigest(ctx.config, meeting.org_id);
  const { tasks, possible, generated_by } = await ctx.intelligence.findTasks(
    {
      said,
      members: await peopleOf(org.members.map(({ user_id }) => user_id)),
      startedAt: meeting.started_at,
      zone: meeting.settings.timezone,
    },
    { about: { meeting_id: meeting._id } },
  );
  if (isKnown) return { created: 0, possible, generated_by };
  const cause: Cause = { source: 'extraction', actor: meeting.org_id, now: ctx.clock() };
  const created = await store(tasks, { meeting, org, said }, cause);
  await noteExtraction(meeting._id, org._id, { version: said.length, generated_by });
  if (!(await findMeeting(meeting.org_id, meeting._id))) {
    // The meeting was deleted meanwhile. Its removal may have missed these tasks, so they are removed here.
    await removeTasksOf(meeting._id, cause, async () => undefined);
    throw noSuch('meeting');
  }
  await Promise.all(created.map(({ task, intents }) => startSaved(ctx, TaskModel, task, intents)));
  return { created: created.length, possible, generated_by };
}

type From = { meeting: Meeting; org: Organization; said: readonly Segment[] };

/** Tasks are stored one after the other, so that their ids follow the order of the transcript. */
async function store(tasks: readonly FoundTask[], { meeting, org, said }: From, cause: Cause): Promise<Changed[]> {
  const segments = new Map(said.map((segment) => [segment.id, segment.text]));
  const times = new Map<string, number>();
  const created: Changed[] = [];
  for (const { segment, quote, title, context, assignee, priority, due, dueDay } of tasks) {
    const place = JSON.stringify([segment, sentenceOf(quote, segments.get(segment) ?? '')]);
    const nth = times.get(place) ?? 0;
    times.set(place, nth + 1);
    const task = await createExtracted(
      {
        org_id: org._id,
        mode: org.environment === 'production' ? 'live' : 'test',
        title,
        priority,
        session_id: meeting._id,
        source_quote: quote,
        source_key: sourceKey(meeting._id, org._id, place, nth),
        email_execution_enabled: false,
        created_by: meeting.org_id,
        ...defined({ description: context, due_date: due, due_day: dueDay }),
        ...(assignee === undefined
          ? {}
          : 'userId' in assignee
            ? { assigned_to: assignee.userId }
            : { assignee_email: assignee.email }),
      },
      cause,
    );
    if (task) created.push(task);
  }
  return created;
}

/** The sentence in which a quote begins. The sentence identifies a task, however much of the sentence is quoted. */
function sentenceOf(quote: string, text: string): string {
  const plain = (words: string): string =>
    words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
  const begin = plain(quote).slice(0, 40);
  const found = sentences(text).find((sentence) => plain(sentence).includes(begin));
  return plain(found ?? quote);
}

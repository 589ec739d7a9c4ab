/**
 * Tasks that are extracted from meetings. Each task is extracted once; it is identified by the sentence that it came
 * from. Deleting a meeting removes its extracted tasks.
 */
import { createHash } from 'node:crypto';
import {
  changeTask,
  createTask,
  removedKeptMs,
  removeTask,
  TaskModel,
  type Cause,
  type Changed,
  type NewTask,
  type Task,
} from './task.ts';
import { unlessDuplicate } from '../base/connect.ts';
import { acrossShards, collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { number, oneOf, string } from '../rules/base/fields.ts';

/**
 * One record for each transcript and organization, stored once the organization's tasks were extracted from the
 * transcript.
 */
const ExtractionModel = defineModel(
  'Extraction',
  'task_extractions',
  {
    /** The id: `<meeting>:<organization>` */
    _id: string,
    session_id: string,
    /** The transcript's version. */
    version: number,
    generated_by: oneOf(['extractive', 'model']),
  },
  [{ fields: { session_id: 1 } }],
);
type Extraction = RecordOf<typeof ExtractionModel>;

const idOf = (sessionId: string, orgId: string): string => `${sessionId}:${orgId}`;

export async function findExtraction(sessionId: string, orgId: string): Promise<Extraction | null> {
  return collectionOf(ExtractionModel).findOne({ _id: idOf(sessionId, orgId) });
}

/**
 * Stores that an organization's tasks were extracted from a transcript. Call this after the tasks are stored, because a
 * later extraction may skip this version of the transcript.
 */
export async function noteExtraction(
  sessionId: string,
  orgId: string,
  read: Pick<Extraction, 'version' | 'generated_by'>,
): Promise<void> {
  const noted = { session_id: sessionId, ...read };
  await collectionOf(ExtractionModel).updateOne({ _id: idOf(sessionId, orgId) }, { $set: noted }, { upsert: true });
}

/**
 * The idempotency key of an extracted task. `place`: where in the transcript it was said; `nth`: its number, from 0,
 * among the tasks from the same place.
 */
export const sourceKey = (sessionId: string, orgId: string, place: string, nth: number): string =>
  createHash('sha256')
    .update(JSON.stringify([sessionId, orgId, place, nth]))
    .digest('hex');

/** Stores an extracted task; undefined when it was extracted before, even when it has been removed since. */
export async function createExtracted(
  task: NewTask & { session_id: string; source_key: string },
  cause: Cause,
): Promise<Changed | undefined> {
  return unlessDuplicate(() => createTask(task, cause));
}

/** The tasks that were extracted from a meeting for an organization and not removed, in the order of the transcript. */
export async function listExtracted(sessionId: string, orgId: string): Promise<Task[]> {
  return collectionOf(TaskModel)
    .find({ session_id: sessionId, org_id: orgId, source_key: { $exists: true }, status: { $exists: true } })
    .sort({ _id: 1 })
    .toArray();
}

/**
 * Removes the tasks of all organizations that were extracted from a deleted meeting, and the extraction records. Tasks
 * that people wrote are kept, without their link to the meeting. `told` is called for each changed task. Idempotent.
 */
export async function removeTasksOf(
  sessionId: string,
  cause: Cause,
  told: (changed: Changed) => Promise<void>,
): Promise<void> {
  const linked = { session_id: sessionId, status: { $exists: true } };
  const found = await acrossShards(TaskModel)
    .find(linked, { projection: { org_id: 1, source_key: 1 } })
    .toArray();
  for (const { _id, org_id, source_key } of found) {
    const change =
      source_key === undefined
        ? await changeTask(org_id, _id, { ...cause, note: 'Its meeting was deleted.' }, () => ({ session_id: null }))
        : await removeTask(org_id, _id, cause);
    if (change) await told(change);
  }
  await acrossShards(TaskModel).updateMany(
    { session_id: sessionId, status: { $exists: false } },
    { $min: { expires_at: new Date(cause.now.getTime() + removedKeptMs) }, $unset: { source_key: '', session_id: '' } },
  );
  await collectionOf(ExtractionModel).deleteMany({ session_id: sessionId });
}

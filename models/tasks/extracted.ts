/**
 * The tasks of meetings: which were extracted from which transcript, each once, and their removal with the meeting. A task is
 * recognized by the sentence it was extracted from.
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
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { number, oneOf, string } from '../rules/base/fields.ts';

/** That a transcript was read for an organization. */
const ExtractionModel = defineModel(
  'Extraction',
  'task_extractions',
  {
    /** `<meeting>:<organization>` */
    _id: string,
    session_id: string,
    /** The version of the transcript. */
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

/** Says that a transcript was read, once its tasks are stored. */
export async function noteExtraction(
  sessionId: string,
  orgId: string,
  read: Pick<Extraction, 'version' | 'generated_by'>,
): Promise<void> {
  const noted = { session_id: sessionId, ...read };
  await collectionOf(ExtractionModel).updateOne({ _id: idOf(sessionId, orgId) }, { $set: noted }, { upsert: true });
}

/** Recognizes a task by where it was said; `nth`: of several in one place. */
export const sourceKey = (sessionId: string, orgId: string, place: string, nth: number): string =>
  createHash('sha256')
    .update(JSON.stringify([sessionId, orgId, place, nth]))
    .digest('hex');

/** Undefined when it was extracted before, also when it was removed since. */
export async function createExtracted(
  task: NewTask & { session_id: string; source_key: string },
  cause: Cause,
): Promise<Changed | undefined> {
  try {
    return await createTask(task, cause);
  } catch (error) {
    if (isDuplicate(error)) return undefined;
    throw error;
  }
}

/** What was extracted from a meeting for an organization and was not removed, in the order in which it was said. */
export async function listExtracted(sessionId: string, orgId: string): Promise<Task[]> {
  return collectionOf(TaskModel)
    .find({ session_id: sessionId, org_id: orgId, source_key: { $exists: true }, status: { $exists: true } })
    .sort({ _id: 1 })
    .toArray();
}

/**
 * Of a meeting that is deleted: removes the tasks that were extracted from it, in every organization, and that they were; those
 * that people wrote stay, without their link. `told`: of each one that was changed. Safe to repeat.
 */
export async function removeTasksOf(
  sessionId: string,
  cause: Cause,
  told: (changed: Changed) => Promise<void>,
): Promise<void> {
  const linked = { session_id: sessionId, status: { $exists: true } };
  const found = await collectionOf(TaskModel)
    .find(linked, { projection: { org_id: 1, source_key: 1 } })
    .toArray();
  for (const { _id, org_id, source_key } of found) {
    const change =
      source_key === undefined
        ? await changeTask(org_id, _id, { ...cause, note: 'Its meeting was deleted.' }, () => ({ session_id: null }))
        : await removeTask(org_id, _id, cause);
    if (change) await told(change);
  }
  await collectionOf(TaskModel).updateMany(
    { session_id: sessionId, status: { $exists: false } },
    { $min: { expires_at: new Date(cause.now.getTime() + removedKeptMs) }, $unset: { source_key: '', session_id: '' } },
  );
  await collectionOf(ExtractionModel).deleteMany({ session_id: sessionId });
}

/** Records what operators do with the `ops` command: an audit log of the deployment, which no organization sees. */
import { collectionOf, defineModel, type RecordOf } from './define.ts';
import { newId } from './ids.ts';
import { date, optional, string } from '../rules/base/fields.ts';
import { keptSeconds } from '../rules/base/retention.ts';

const OperationModel = defineModel(
  'Operation',
  'operations',
  {
    _id: string,
    at: date,
    /** The name of the operator's account on their machine. */
    by: string,
    command: string,
    /** The id of a workflow or an organization, or the search text of `ops org`. */
    target: optional(string),
    /** The outcome of the act, as a sentence; missing when the process died before the act ended. */
    outcome: optional(string),
  },
  [{ fields: { at: -1 }, expireAfterSeconds: keptSeconds('operations') }],
);
export type Operation = RecordOf<typeof OperationModel>;

/**
 * Records an act before it is done, and its outcome afterwards. The error of a failed act is stored as its outcome and
 * thrown again.
 */
export async function recorded<T>(
  act: Omit<Operation, '_id' | 'outcome'>,
  doIt: () => Promise<T>,
  outcomeOf: (done: T) => string,
): Promise<T> {
  const _id = newId('operation');
  const operations = collectionOf(OperationModel);
  await operations.insertOne({ _id, ...act });
  const settle = (outcome: string) => operations.updateOne({ _id }, { $set: { outcome } });
  try {
    const done = await doIt();
    await settle(outcomeOf(done));
    return done;
  } catch (error) {
    await settle(`failed: ${(error as Error).message}`.slice(0, 500));
    throw error;
  }
}

export const listOperations = (limit: number): Promise<Operation[]> =>
  collectionOf(OperationModel).find({}).sort({ at: -1 }).limit(limit).toArray();

/**
 * An errand is encrypted data that the API and a worker pass to each other, so that a workflow's history contains only
 * the errand's id. An activity reads the content and may replace it with its result. `takeErrand` deletes the errand;
 * otherwise MongoDB deletes it after ten minutes.
 */
import { collectionOf, defineModel, finderOf, updaterOf } from './define.ts';
import { newId } from './ids.ts';
import { sealedRecords } from './reseal.ts';
import type { Place, SecretBox } from './secretbox.ts';
import { date, string } from '../rules/base/fields.ts';

const errandMs = 10 * 60_000;

const ErrandModel = defineModel(
  'Errand',
  'errands',
  {
    _id: string,
    org_id: string,
    /** The content, as encrypted JSON. */
    sealed: string,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);

const errandPlace = (id: string): Place => ({ field: 'errands.sealed', record: id });
const opened = (errand: { _id: string; sealed: string } | null, { open }: SecretBox): unknown =>
  errand && JSON.parse(open(errand.sealed, errandPlace(errand._id)));

export const errandSeals = sealedRecords(ErrandModel, ({ _id, sealed }) => [
  { path: 'sealed', sealed, place: errandPlace(_id) },
]);

export async function createErrand(
  orgId: string,
  content: object,
  { secrets, now }: { secrets: SecretBox; now: Date },
): Promise<string> {
  const _id = newId('errand');
  const sealed = secrets.seal(JSON.stringify(content), errandPlace(_id));
  const expires_at = new Date(now.getTime() + errandMs);
  await collectionOf(ErrandModel).insertOne({ _id, org_id: orgId, sealed, expires_at });
  return _id;
}

const find = finderOf(ErrandModel);
const update = updaterOf(ErrandModel);

/** The content of an errand; null when the errand no longer exists. */
export const readErrand = async <T>(orgId: string, id: string, secrets: SecretBox): Promise<T | null> =>
  opened(await find(orgId, id), secrets) as T | null;

/** Replaces the content of an errand; does nothing when the errand no longer exists. */
export async function writeErrand(orgId: string, id: string, content: object, { seal }: SecretBox): Promise<void> {
  await update(orgId, id, { $set: { sealed: seal(JSON.stringify(content), errandPlace(id)) } });
}

/** Removes an errand and returns its content; null when the errand no longer exists. */
export const takeErrand = async <T>(orgId: string, id: string, secrets: SecretBox): Promise<T | null> =>
  opened(await collectionOf(ErrandModel).findOneAndDelete({ _id: id, org_id: orgId }), secrets) as T | null;

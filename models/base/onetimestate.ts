/**
 * What is begun here and goes on with what comes back from another service: a sign-in, a connection. Each is finished once, within
 * ten minutes, by the browser that began it. Only hashes of what the browser holds are stored; what is needed to finish is sealed.
 */
import { createHash } from 'node:crypto';
import { collectionOf, defineModel } from './define.ts';
import { sealedRecords } from './reseal.ts';
import type { Place, SecretBox } from './secretbox.ts';
import { date, optional, string } from '../rules/base/fields.ts';

/** What a state is found by. `state`: as the service gives it back. */
export type StateKey = { state: string; purpose: string; browser?: string };

export const stateSeconds = 600;

const OneTimeStateModel = defineModel(
  'OneTimeState',
  'one_time_states',
  {
    /** SHA-256 of the `state` parameter or code, hexadecimal. */
    _id: string,
    /** What it is for, and at which service: `oidc:<provider>`, `connect:<provider>`. */
    purpose: string,
    /** SHA-256 of the cookie that the browser was given, hexadecimal; absent where no browser begins it. */
    browser: optional(string),
    /** JSON, sealed. */
    sealed: string,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex');
const statePlace = (id: string): Place => ({ field: 'one_time_states.sealed', record: id });

export const oneTimeStateSeals = sealedRecords(OneTimeStateModel, ({ _id, sealed }) => [
  { path: 'sealed', sealed, place: statePlace(_id) },
]);

/** Keeps what is needed to finish; until when. */
export async function keepState(
  { state, ...key }: StateKey,
  content: object,
  { secrets, now }: { secrets: SecretBox; now: Date },
): Promise<Date> {
  const id = hashOf(state);
  const expires_at = new Date(now.getTime() + stateSeconds * 1000);
  const sealed = secrets.seal(JSON.stringify(content), statePlace(id));
  await collectionOf(OneTimeStateModel).insertOne({ _id: id, ...key, sealed, expires_at });
  return expires_at;
}

/** Removes a state and gives its content; null when it is unknown, used, too old, of another purpose or another browser's. */
export async function takeState(
  { state, purpose, browser }: StateKey,
  { secrets, now }: { secrets: SecretBox; now: Date },
): Promise<unknown> {
  const taken = await collectionOf(OneTimeStateModel).findOneAndDelete({
    _id: hashOf(state),
    purpose,
    browser: browser ?? { $exists: false },
    expires_at: { $gt: now },
  });
  return taken && JSON.parse(secrets.open(taken.sealed, statePlace(taken._id)));
}

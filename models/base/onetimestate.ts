/**
 * One-time states. A state keeps the data of a flow, such as a sign-in through another service, until the flow returns
 * with its secret `state` value. A flow can be finished only once, within ten minutes or less. A flow that began in a
 * browser can be finished only in the same browser. The `state` and the browser's cookie are stored as hashes; the data
 * to finish the flow is encrypted.
 */
import { createHash } from 'node:crypto';
import { collectionOf, defineModel } from './define.ts';
import { sealedRecords } from './reseal.ts';
import type { Place, SecretBox } from './secretbox.ts';
import { date, optional, string } from '../rules/base/fields.ts';

/**
 * The key of a state. `state`: the value that comes back at the end of the flow, in plain text. `purpose`: as in the
 * stored record. `browser`: the hash of the browser's cookie.
 */
export type StateKey = { state: string; purpose: string; browser?: string };

export const stateSeconds = 600;

const OneTimeStateModel = defineModel(
  'OneTimeState',
  'one_time_states',
  {
    /** SHA-256 of the `state` parameter or code, hexadecimal. */
    _id: string,
    /**
     * The flow and the service: `oidc:<provider>`, `connect:<provider>`, or `connect:tools` for the sign-in at a tool
     * server.
     */
    purpose: string,
    /** SHA-256 of the browser's cookie, hexadecimal; absent for flows that do not begin in a browser. */
    browser: optional(string),
    /** The data to finish the flow, as encrypted JSON. */
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

/**
 * Stores the data that the flow needs to finish, and returns the time when the data expires, by default in ten minutes.
 */
export async function keepState(
  { state, ...key }: StateKey,
  content: object,
  { secrets, now, seconds = stateSeconds }: { secrets: SecretBox; now: Date; seconds?: number },
): Promise<Date> {
  const id = hashOf(state);
  const expires_at = new Date(now.getTime() + seconds * 1000);
  const sealed = secrets.seal(JSON.stringify(content), statePlace(id));
  await collectionOf(OneTimeStateModel).insertOne({ _id: id, ...key, sealed, expires_at });
  return expires_at;
}

/**
 * Removes a state and returns its content; null when the state is unknown, used, expired, or belongs to another purpose
 * or browser.
 */
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

/**
 * Sign-ins in progress at an identity provider. Each can be used once, by the browser that started it, within ten
 * minutes. Only hashes of the browser's secrets are stored, and secrets that the provider must not learn are sealed.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';

export const oidcStateSeconds = 600;

const OidcStateModel = defineModel(
  'OidcState',
  'oidc_states',
  {
    /** SHA-256 of the `state` parameter, hexadecimal. */
    _id: string,
    provider: string,
    /** SHA-256 of the cookie that the browser was given. */
    browser: string,
    /** The nonce and the PKCE verifier, sealed. */
    sealed: string,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type OidcState = RecordOf<typeof OidcStateModel>;

export const oidcStatePlace = (id: string): Place => ({ field: 'oidc_states.sealed', record: id });

export const oidcStateSeals = sealedRecords(OidcStateModel, ({ _id, sealed }) => [
  { path: 'sealed', sealed, place: oidcStatePlace(_id) },
]);

export async function keepOidcState(state: OidcState): Promise<void> {
  await OidcStateModel.create(state);
}

/**
 * Removes a sign-in and returns it; null when it is unknown, used, too old, or belongs to another provider or browser.
 */
export async function takeOidcState(
  id: string,
  provider: string,
  browser: string,
  now: Date,
): Promise<OidcState | null> {
  return collectionOf(OidcStateModel).findOneAndDelete({ _id: id, provider, browser, expires_at: { $gt: now } });
}

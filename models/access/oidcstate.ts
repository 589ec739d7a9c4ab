/**
 * Sign-ins in progress at an identity provider. Each can be used once, by the browser that started it, within ten
 * minutes. Only hashes of the browser's secrets are stored, and secrets that the provider must not learn are sealed.
 */
import { defineModel } from '../base/define.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';

export type OidcState = {
  /** SHA-256 of the `state` parameter, hexadecimal. */
  _id: string;
  provider: string;
  /** SHA-256 of the cookie that the browser was given. */
  browser: string;
  /** The nonce and the PKCE verifier, sealed. */
  sealed: string;
  expires_at: Date;
};

export const oidcStateSeconds = 600;

const OidcStateModel = defineModel<OidcState>(
  'OidcState',
  'oidc_states',
  {
    _id: { type: String, required: true },
    provider: { type: String, required: true },
    browser: { type: String, required: true },
    sealed: { type: String, required: true },
    expires_at: { type: Date, required: true },
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);

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
  return OidcStateModel.findOneAndDelete({ _id: id, provider, browser, expires_at: { $gt: now } }).lean();
}

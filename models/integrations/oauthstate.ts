/**
 * Connections in progress at a service's consent page. Each can be finished once, by the browser that began it, within ten
 * minutes. Only hashes of what the browser holds are stored.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, mixed, oneOf, string } from '../rules/base/fields.ts';
import { integrationProviders, type IntegrationProvider } from '../rules/integrations/integration.ts';

export const oauthStateSeconds = 600;

const OauthStateModel = defineModel(
  'OauthState',
  'oauth_states',
  {
    /** SHA-256 of the `state` parameter, hexadecimal. */
    _id: string,
    org_id: string,
    provider: oneOf(integrationProviders),
    /** The member who began it; whoever is no longer an admin by the end connects nothing. */
    user_id: string,
    /** SHA-256 of the cookie that the browser was given. */
    browser: string,
    settings: mixed<Record<string, unknown>>(),
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type OauthState = RecordOf<typeof OauthStateModel>;

export async function keepOauthState(state: OauthState): Promise<void> {
  await collectionOf(OauthStateModel).insertOne(state);
}

/** Removes a state and returns it; null when it is unknown, used, too old, or another browser's. */
export async function takeOauthState(
  id: string,
  provider: IntegrationProvider,
  browser: string,
  now: Date,
): Promise<OauthState | null> {
  return collectionOf(OauthStateModel).findOneAndDelete({ _id: id, provider, browser, expires_at: { $gt: now } });
}

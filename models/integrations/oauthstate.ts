/**
 * Connections in progress at a service's consent page. Each can be finished once, by the browser that began it, within ten
 * minutes. Only hashes of what the browser holds are stored.
 */
import { collectionOf, defineModel, Mixed } from '../base/define.ts';
import { integrationProviders, type IntegrationProvider } from '../rules/integrations/integration.ts';

export type OauthState = {
  /** SHA-256 of the `state` parameter, hexadecimal. */
  _id: string;
  org_id: string;
  provider: IntegrationProvider;
  /** The member who began it; whoever is no longer an admin by the end connects nothing. */
  user_id: string;
  /** SHA-256 of the cookie that the browser was given. */
  browser: string;
  settings: Record<string, unknown>;
  expires_at: Date;
};

export const oauthStateSeconds = 600;

const OauthStateModel = defineModel<OauthState>(
  'OauthState',
  'oauth_states',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    provider: { type: String, enum: integrationProviders, required: true },
    user_id: { type: String, required: true },
    browser: { type: String, required: true },
    settings: { type: Mixed },
    expires_at: { type: Date, required: true },
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);

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

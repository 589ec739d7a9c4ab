/**
 * The support settings of an organization: defaults, validation, and which settings need each other. Pure: only the
 * text of a webhook's URL is checked here. The address to which the URL's host resolves is checked on each connection.
 */
import { isEgressAllowed, isPublicHost, portOf } from '../base/address.ts';
import { type Detail, invalid, Problem } from '../base/errors.ts';
import {
  boolean,
  date,
  embedded,
  list,
  nullable,
  number,
  oneOf,
  orElse,
  string,
  type RecordWith,
} from '../base/fields.ts';
import { badPorts } from '../base/http.ts';
import { givenAgain, isElsewhere, originOf } from '../base/origin.ts';

export const outboxProviders = ['slack', 'linear', 'webhook'] as const;
/** The destinations of ticket events. */
export type OutboxProvider = (typeof outboxProviders)[number];

export const maxWebhookUrlLength = 2048;
export const maxAllowedOrigins = 50;
export const webhookSecretLength = { min: 16, max: 256 } as const;
/**
 * How long events are signed with a replaced webhook secret as well as with the new one, in ms. Receivers change their
 * secret within this time.
 */
const oldSecretMs = 24 * 3_600_000;
/**
 * The maximum number of replaced secrets with which events are still signed. Each secret makes the signature header
 * longer.
 */
const maxOldSecrets = 4;
/**
 * The minimum length of the key after `whsec_`, in bytes. Standard Webhooks asks for 24 to 64; fewer than 16 can be
 * guessed.
 */
const minWebhookKeyBytes = 16;

export const settingsFields = {
  /**
   * True: a question that names a segment finds only content with the segment's tag, and shared content. False: the
   * question also finds untagged content (spec 4.7, segment rule 5).
   */
  kb_segment_strict: boolean,
  outbox_providers: list(oneOf(outboxProviders)),
  outbox_webhook_url: nullable(string),
  /** The webhook's secret, encrypted; see models/base/secretbox.ts. */
  outbox_webhook_secret: nullable(string),
  /** The origins whose pages may embed the chat; an empty list allows none. */
  allowed_origins: list(string),
};
export type SupportSettings = RecordWith<typeof settingsFields>;

export const defaultSettings: Readonly<SupportSettings> = Object.freeze({
  kb_segment_strict: false,
  outbox_providers: [],
  outbox_webhook_url: null,
  outbox_webhook_secret: null,
  allowed_origins: [],
});

/** A replaced secret, and until when events are signed with it as well as with the new secret. */
const oldSecret = embedded({ secret: string, until: date });
/** State that is updated when the settings of ticket events are saved; requests cannot set it directly. */
export const outboxStateFields = {
  /**
   * Increments each time the address, the secret or the destinations are saved, so that a disabled destination is tried
   * again.
   */
  outbox_version: orElse(number, 0),
  outbox_webhook_old_secrets: list(oldSecret),
  /** The origin for which the secret was entered; null while there is no secret, or no address yet. */
  outbox_webhook_origin: nullable(string),
};
export type OutboxState = RecordWith<typeof outboxStateFields>;

export const defaultOutboxState: Readonly<OutboxState> = Object.freeze({
  outbox_version: 0,
  outbox_webhook_old_secrets: [],
  outbox_webhook_origin: null,
});

export type SettingsPatch = { [K in keyof SupportSettings]?: SupportSettings[K] | undefined };
type Around = {
  /** Destinations that are connected as integrations. */
  integrations: readonly OutboxProvider[];
  /** Private hosts that outbound requests may reach (EGRESS_ALLOW). */
  egressAllow: readonly string[];
};

/**
 * The settings after a partial update; fields that are not in the patch keep their values.
 * @throws Problem VALIDATION naming each bad field, or the webhook's secret when the webhook is selected without a
 * secret. PROVIDER_NOT_CONNECTED naming each selected destination that is not connected, which includes a webhook
 * without an address.
 */
export function applySettings(
  { outbox_webhook_origin: givenFor, ...current }: SupportSettings & Pick<OutboxState, 'outbox_webhook_origin'>,
  patch: SettingsPatch,
  around: Around,
): SupportSettings {
  const details: Detail[] = [];
  const refuse = (path: (string | number)[], message: string) =>
    void details.push({ path: ['body', ...path], message });
  const next: SupportSettings = { ...current };

  if (patch.kb_segment_strict !== undefined) next.kb_segment_strict = patch.kb_segment_strict;
  if (patch.outbox_webhook_secret !== undefined) next.outbox_webhook_secret = patch.outbox_webhook_secret;
  if (patch.outbox_providers !== undefined) {
    next.outbox_providers = patch.outbox_providers;
    if (new Set(patch.outbox_providers).size < patch.outbox_providers.length)
      refuse(['outbox_providers'], 'names a destination twice');
  }
  if (patch.outbox_webhook_url !== undefined) {
    const problem =
      patch.outbox_webhook_url === null ? undefined : webhookUrlProblem(patch.outbox_webhook_url, around.egressAllow);
    if (problem) refuse(['outbox_webhook_url'], problem);
    else next.outbox_webhook_url = patch.outbox_webhook_url === null ? null : new URL(patch.outbox_webhook_url).href;
  }
  if (patch.allowed_origins !== undefined) {
    const origins = patch.allowed_origins.map(readOrigin);
    origins.forEach((origin, index) => {
      if (origin === undefined)
        refuse(['allowed_origins', index], 'must be an origin such as https://www.example.com, with no path and no *');
    });
    next.allowed_origins = [...new Set(origins.filter((origin) => origin !== undefined))];
  }
  const keepsSecret = patch.outbox_webhook_secret === undefined && current.outbox_webhook_secret !== null;
  if (keepsSecret && isElsewhere(givenFor, next.outbox_webhook_url))
    refuse(['outbox_webhook_secret'], givenAgain('outbox_webhook_url'));
  if (details.length > 0) throw new Problem('VALIDATION', { details });

  if (patch.outbox_providers !== undefined || patch.outbox_webhook_url !== undefined) {
    const connected = connectedProviders(next, around.integrations);
    checkConnected(next.outbox_providers.filter((provider) => !connected.includes(provider)));
  }
  if (patch.outbox_providers !== undefined || patch.outbox_webhook_secret !== undefined) checkSigned(next);
  return next;
}

/**
 * The state of ticket events (`OutboxState`) after a patch is saved. Removing the secret, or moving the webhook to
 * another origin, deletes all replaced secrets.
 */
export function outboxAfter(
  current: Pick<SupportSettings, 'outbox_webhook_secret' | 'outbox_webhook_url'> & OutboxState,
  patch: SettingsPatch,
  now: Date,
): OutboxState {
  const { outbox_webhook_secret: before, outbox_version, outbox_webhook_old_secrets } = current;
  const { outbox_providers, outbox_webhook_url, outbox_webhook_secret: after } = patch;
  const saved = [outbox_providers, outbox_webhook_url, after].some((value) => value !== undefined);
  const standing = outbox_webhook_old_secrets.filter(({ until }) => until > now);
  const replaces = after !== undefined && after !== before;
  const replaced = before === null ? [] : [{ secret: before, until: new Date(now.getTime() + oldSecretMs) }];
  const url = outbox_webhook_url === undefined ? current.outbox_webhook_url : outbox_webhook_url;
  const moved = isElsewhere(current.outbox_webhook_origin, url);
  const secret = after === undefined ? before : after;
  const standingOrigin = after === undefined ? current.outbox_webhook_origin : null;
  return {
    outbox_version: outbox_version + (saved ? 1 : 0),
    outbox_webhook_origin: secret === null ? null : (standingOrigin ?? originOf(url)),
    outbox_webhook_old_secrets:
      after === null || moved ? [] : replaces ? [...replaced, ...standing].slice(0, maxOldSecrets) : standing,
  };
}

/** The encrypted secrets with which an event is signed now, newest first; empty while no secret is set. */
export function validSecrets(
  { outbox_webhook_secret, outbox_webhook_old_secrets }: Pick<SupportSettings, 'outbox_webhook_secret'> & OutboxState,
  now: Date,
): string[] {
  if (outbox_webhook_secret === null) return [];
  const old = outbox_webhook_old_secrets.filter(({ until }) => until > now);
  return [outbox_webhook_secret, ...old.map(({ secret }) => secret)];
}

/**
 * Throws `VALIDATION` when the webhook is selected without a secret. Receivers can tell real events from forged ones
 * only by the signature, which needs the secret.
 */
function checkSigned({ outbox_providers, outbox_webhook_secret }: SupportSettings): void {
  if (!outbox_providers.includes('webhook') || outbox_webhook_secret !== null) return;
  throw invalid(
    ['body', 'outbox_webhook_secret'],
    'is required while outbox_providers names webhook; events are signed with it',
  );
}

/** The destinations that can receive events: connected integrations, and the webhook once it has an address. */
function connectedProviders(
  settings: Pick<SupportSettings, 'outbox_webhook_url'>,
  integrations: readonly OutboxProvider[],
): OutboxProvider[] {
  return outboxProviders.filter((p) =>
    p === 'webhook' ? settings.outbox_webhook_url !== null : integrations.includes(p),
  );
}

function checkConnected(missing: OutboxProvider[]): void {
  if (missing.length === 0) return;
  const how = (p: OutboxProvider) =>
    p === 'webhook' ? 'is selected, but outbox_webhook_url is not set' : 'is selected, but not connected';
  throw new Problem('PROVIDER_NOT_CONNECTED', {
    message: `Not connected: ${missing.join(', ')}. Connect it first, or leave it out of outbox_providers.`,
    details: missing.map((p) => ({ path: ['body', 'outbox_providers'], message: `${p} ${how(p)}` })),
  });
}

/**
 * Throws `VALIDATION` for a secret that is too short, or that receivers could not use: Standard Webhooks reads the text
 * after `whsec_` as base64. A long enough secret without this prefix may be any text.
 */
export function checkWebhookSecret(secret: string | null | undefined): void {
  const refuse = (message: string): never => {
    throw invalid(['body', 'outbox_webhook_secret'], message);
  };
  if (secret && secret.trim().length < webhookSecretLength.min)
    refuse(`must have at least ${webhookSecretLength.min} characters beside blanks`);
  if (!secret?.startsWith('whsec_')) return;
  const key = secret.slice(6);
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(key))
    refuse('is not base64 after whsec_');
  // Each character of base64 holds 6 bits.
  if (key.replace(/=+$/, '').length * 6 < minWebhookKeyBytes * 8)
    refuse(`must hold a key of at least ${minWebhookKeyBytes} bytes`);
}

/** Why a URL cannot be the URL of the webhook; undefined when it can be. */
export function webhookUrlProblem(text: string, egressAllow: readonly string[]): string | undefined {
  if (!URL.canParse(text)) return 'must be an address such as https://example.com/hooks';
  const url = new URL(text);
  const allowed = isEgressAllowed(url.hostname, portOf(url), egressAllow);
  if (url.protocol !== 'https:' && !(allowed && url.protocol === 'http:')) return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not carry a user name or password; requests are signed instead';
  if (url.hostname.includes('*')) return 'must name one host; * stands for nothing here';
  if (badPorts.has(portOf(url))) return `must not use port ${portOf(url)}, which belongs to another protocol`;
  if (url.href.length > maxWebhookUrlLength) return `may have ${maxWebhookUrlLength} characters`;
  if (!allowed && !isPublicHost(url.hostname)) return 'must be a public address, not one inside a private network';
  return undefined;
}

/**
 * An origin in the form that browsers send (`https://example.com:8443`, without a default port); undefined for other
 * text. `*` is refused: browsers never send it as an origin, so it would seem to allow everything but would allow
 * nothing.
 */
export function readOrigin(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@*\\\s]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}

/**
 * Verifies messages of Microsoft Teams: by a token of the Bot Framework, or by the HMAC of an outgoing webhook. The
 * issuer and keys of tokens come from the framework's metadata. A token is valid for one bot, one service URL and the
 * channels that its key is endorsed for.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, importJWK, jwtVerify, type JWK } from 'jose';
import { z } from 'zod';
import { readActivity, teamsExternal, type TeamsActivity } from './rules.ts';
import type { Owner, OwnedBy } from '../base/arrival.ts';
import { unsigned, type SignedRequest } from '../base/signing.ts';
import { headerOf, type Http } from '../../clients/http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { jsonIn } from '../../models/rules/base/json.ts';
import { findOwner } from '../../models/integrations/integration.ts';

export type TeamsVerifier = {
  /** @throws HttpError when the keys cannot be fetched at present. */
  isBotToken(token: string, activity: TeamsActivity, now: Date): Promise<boolean>;
};

const metadata = z.object({ issuer: z.string().min(1), jwks_uri: z.url() });
const keySet = z.object({
  keys: z.array(z.looseObject({ kid: z.string().optional(), endorsements: z.array(z.string()).optional() })),
});
type Key = z.infer<typeof keySet>['keys'][number];
type Issuer = { issuer: string; keys: Key[]; fetchedAt: number };

/** Microsoft changes keys rarely, and recommends fetching them once a day. */
const keptMs = 24 * 3_600_000;
/** A token with an unknown key triggers a new fetch of the keys, at most once in this time. */
const refetchAfterMs = 30_000;
const clockToleranceSeconds = 300;
const limits = { maxBytes: 512 * 1024, headersTimeoutMs: 5_000, totalTimeoutMs: 5_000 };

/** `url`: the URL of the metadata. `appId`: the bot's id, which tokens must be issued for. */
export function createTeamsVerifier(
  http: Pick<Http, 'request'>,
  { url, appId }: { url: string; appId: string | undefined },
): TeamsVerifier {
  let known: Promise<Issuer> | undefined;
  let begun = Number.NEGATIVE_INFINITY;

  async function get<T>(address: string, schema: z.ZodType<T>): Promise<T> {
    const { status, headers, body } = await http.request(address, {
      ...limits,
      headers: { accept: 'application/json' },
    });
    if (status !== 200 || !/json/.test(headerOf(headers, 'content-type') ?? 'json'))
      throw new HttpError('protocol', { url: address });
    const parsed = schema.safeParse(jsonIn(body));
    if (!parsed.success) throw new HttpError('protocol', { url: address });
    return parsed.data;
  }
  async function fetchIssuer(): Promise<Issuer> {
    const { issuer, jwks_uri } = await get(url, metadata);
    const { keys } = await get(jwks_uri, keySet);
    return { issuer, keys, fetchedAt: performance.now() };
  }
  function issuerNow(fresh: boolean): Promise<Issuer> {
    const age = performance.now() - begun;
    if (known && age < (fresh ? refetchAfterMs : keptMs)) return known;
    begun = performance.now();
    const before = known;
    const fetching = fetchIssuer();
    known = fetching;
    fetching.catch(() => {
      // After a failed fetch the previous keys stay in use.
      if (known === fetching) known = before;
      if (!before) begun = Number.NEGATIVE_INFINITY;
    });
    return fetching;
  }
  async function keyOf(kid: string): Promise<{ issuer: string; key: Key } | undefined> {
    for (const fresh of [false, true]) {
      const { issuer, keys } = await issuerNow(fresh);
      const key = keys.find((candidate) => candidate.kid === kid);
      if (key) return { issuer, key };
    }
    return undefined;
  }

  return {
    async isBotToken(token, activity, now) {
      const kid = kidOf(token);
      // The tenant in a message decides which organization answers. Teams itself sets the tenant, but on the bot's
      // other channels the client sets it. So only messages of Teams are accepted.
      if (appId === undefined || kid === undefined || activity.channelId !== 'msteams') return false;
      const signer = await keyOf(kid);
      if (!signer) return false;
      const { endorsements } = signer.key;
      if (endorsements && !endorsements.includes(activity.channelId)) return false;
      try {
        const { payload } = await jwtVerify(token, await importJWK(signer.key as JWK, 'RS256'), {
          issuer: signer.issuer,
          audience: appId,
          algorithms: ['RS256'],
          clockTolerance: clockToleranceSeconds,
          currentDate: now,
          requiredClaims: ['exp', 'iss', 'aud'],
        });
        // Without this check, a token for one service URL could redirect answers to another URL.
        return activity.serviceUrl !== '' && payload['serviceurl'] === activity.serviceUrl;
      } catch {
        return false;
      }
    },
  };
}

/** The id of the key that a token names; undefined when the text is no token signed with RS256. */
function kidOf(token: string): string | undefined {
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    return alg === 'RS256' ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the body was signed with the security token of an outgoing webhook. Signature and secret are base64. */
function isHmacSigned(body: Buffer, signature: string, secret: string): boolean {
  const expected = createHmac('sha256', Buffer.from(secret, 'base64')).update(body).digest();
  const given = Buffer.from(signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export type TeamsSender = { id: string; form: 'bot' | 'webhook'; activity: TeamsActivity };

/**
 * `secret`: the security token of the outgoing webhook. @throws Problem UNAUTHENTICATED; UNAVAILABLE while the keys
 * cannot be fetched.
 */
export async function verifyTeams(
  { headers, body, now }: SignedRequest,
  { secret, verifier }: { secret: string | undefined; verifier: TeamsVerifier },
): Promise<TeamsSender> {
  const [, scheme = '', credential = ''] = /^(Bearer|HMAC) +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const activity = readActivity(body.toString('utf8'));
  if (/^HMAC$/i.test(scheme)) {
    if (secret === undefined || !isHmacSigned(body, credential, secret))
      throw unsigned('The HMAC is not made with TEAMS_WEBHOOK_SECRET.');
    if (!activity) throw unsigned('The body is no activity.');
    return { id: 'webhook', form: 'webhook', activity };
  }
  if (!activity || credential === '' || !(await isBots(credential, activity)))
    throw unsigned('The token is not one of the Bot Framework for this bot and this service.');
  return { id: 'bot', form: 'bot', activity };

  async function isBots(token: string, spoken: TeamsActivity): Promise<boolean> {
    try {
      return await verifier.isBotToken(token, spoken, now);
    } catch (error) {
      if (error instanceof HttpError) throw new Problem('UNAVAILABLE', { cause: error });
      throw error;
    }
  }
}

/** The organization that connected the tenant of the message. */
export async function teamsOwner({ tenantId }: TeamsActivity, ownedBy: OwnedBy): Promise<Owner> {
  const owner = tenantId === '' ? null : await findOwner('teams', teamsExternal(tenantId));
  return owner ? ownedBy(owner.org_id) : { unknown: 'No organization has connected this tenant of Microsoft Teams.' };
}

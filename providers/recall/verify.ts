/**
 * Verifies and parses the services' webhooks about bots. Recall.ai signs the bytes and a timestamp (Standard Webhooks;
 * older workspaces name the headers `svix-*`). Attendee signs the canonical JSON of the body, without a timestamp.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { jsonIn } from '../../models/rules/base/json.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;
/** A webhook's timestamp may differ from now by this much in either direction, in seconds. */
const toleranceSeconds = 300;
/**
 * Attendee sends a webhook up to three times. One that is older than this, in seconds, is refused, because it could be a
 * replay.
 */
const attendeeToleranceSeconds = 86_400;

const same = (given: Buffer, expected: Buffer): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected);

/** The id of a Recall.ai webhook if the secret signed it recently; undefined otherwise. */
export function verifiedId(headers: Headers, body: Buffer, secret: string, now: Date): string | undefined {
  const read = (name: string): string | undefined => {
    const value = headers[`webhook-${name}`] ?? headers[`svix-${name}`];
    return typeof value === 'string' ? value : undefined;
  };
  const [id, timestamp, signatures] = [read('id'), read('timestamp'), read('signature')];
  if (!id || !signatures || id.length > 200 || !/^\d{1,12}$/.test(timestamp ?? '')) return undefined;
  if (Math.abs(now.getTime() / 1_000 - Number(timestamp)) > toleranceSeconds) return undefined;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const given = signatures.split(' ').filter((one) => one.startsWith('v1,'));
  return given.some((one) => same(Buffer.from(one.slice(3), 'base64'), expected)) ? id : undefined;
}

const dated = z.object({
  idempotency_key: z.string().min(1).max(200),
  // Only reports about a bot's state have a time, and only those are used.
  data: z.object({ created_at: z.string().optional().catch(undefined) }).optional(),
});

/** The id of an Attendee webhook if the secret, which is Base64, signed it recently; undefined otherwise. */
export function attendeeId(headers: Headers, body: Buffer, secret: string, now: Date): string | undefined {
  const signature = headers['x-webhook-signature'];
  if (typeof signature !== 'string') return undefined;
  let text: string;
  try {
    text = canonicalJson(body.toString('utf8'));
  } catch {
    return undefined;
  }
  const expected = createHmac('sha256', Buffer.from(secret, 'base64')).update(text).digest();
  if (!same(Buffer.from(signature, 'base64'), expected)) return undefined;
  const read = dated.safeParse(JSON.parse(text)).data;
  const at = read?.data?.created_at;
  const age = at === undefined ? 0 : Math.abs(now.getTime() - Date.parse(at)) / 1_000;
  return age > attendeeToleranceSeconds ? undefined : read?.idempotency_key;
}

const botId = z.string().min(1).max(200);
const metadata = z
  .object({ org_id: z.string(), interview_id: z.string(), key: z.string() })
  .optional()
  .catch(undefined);
const ofRecall = z.object({
  data: z.object({ bot: z.object({ id: botId, metadata }).optional(), bot_id: botId.optional() }),
});
const ofAttendee = z.object({ trigger: z.literal('bot.state_change'), bot_id: botId, bot_metadata: metadata });

export type Report = {
  botId: string;
  /** The metadata that the bot was ordered with. Missing when the service does not repeat it. */
  sentWith?: { org_id: string; interview_id: string; key: string };
};

/** The bot in a webhook of Recall.ai; undefined when it is about no bot. */
export function readReport(body: Buffer): Report | undefined {
  const read = ofRecall.safeParse(jsonIn(body)).data;
  const id = read?.data.bot?.id ?? read?.data.bot_id;
  return id === undefined ? undefined : { botId: id, ...defined({ sentWith: read?.data.bot?.metadata }) };
}

/** The bot in a webhook of Attendee; undefined unless it is about a bot's state. */
export function readAttendeeReport(body: Buffer): Report | undefined {
  const read = ofAttendee.safeParse(jsonIn(body)).data;
  return read && { botId: read.bot_id, ...defined({ sentWith: read.bot_metadata }) };
}

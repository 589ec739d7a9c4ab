/** Verifies what Recall.ai sends (Standard Webhooks; older workspaces name the headers `svix-*`), and reads it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;
/** How far the time of a message may be away, in either direction, in seconds. */
const toleranceSeconds = 300;

/** The message's id when it was signed with the secret, not long ago; undefined otherwise. */
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
  const matches = given.some((one) => {
    const signature = Buffer.from(one.slice(3), 'base64');
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return matches ? id : undefined;
}

const report = z.object({
  event: z.string().max(200),
  data: z.object({
    bot: z.object({ id: z.string().min(1).max(200) }).optional(),
    bot_id: z.string().min(1).max(200).optional(),
  }),
});

/** Which bot a message is about, and what happened; undefined when it is about none. */
export function readReport(body: Buffer): { botId: string; event: string } | undefined {
  try {
    const { event, data } = report.parse(JSON.parse(body.toString('utf8')));
    const botId = data.bot?.id ?? data.bot_id;
    return botId === undefined ? undefined : { botId, event };
  } catch {
    return undefined;
  }
}

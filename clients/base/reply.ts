/**
 * The reply of a sandboxed process, a line of JSON. Only the parent process loads this file, because the file needs
 * zod, which sandboxed processes do not load.
 */
import { z } from 'zod';
import { Unreadable, unreadableReasons, type UnreadableReason } from '../../models/rules/base/unreadable.ts';

const reasons = Object.keys(unreadableReasons) as [UnreadableReason, ...UnreadableReason[]];
const reply = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), reason: z.enum(reasons), detail: z.string() }),
]);
export type Reply = z.infer<typeof reply>;

/**
 * Returns the `result` of a reply without a check of its shape; the caller checks it. @throws `Unreadable` when the
 * process refused its input
 */
export function resultIn(line: string): unknown {
  const said = reply.parse(JSON.parse(line));
  if (!said.ok) throw new Unreadable(said.reason, { cause: new Error(said.detail) });
  return said.result;
}

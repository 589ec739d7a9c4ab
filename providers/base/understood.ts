/**
 * Validates payloads of other services at the start of each handler, because a signature proves the sender, not the
 * form. A payload in an undocumented form is ignored with the reason: retries would fail in the same way and block the
 * records behind it.
 */
import type { z } from 'zod';

/** A payload in an undocumented form. The message for members names the field, but not its value. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
}

/** Validates a payload and returns it typed. @throws NotUnderstood */
export function understood<S extends z.ZodType>(form: S, sent: unknown): z.infer<S> {
  const read = form.safeParse(sent);
  if (read.success) return read.data;
  const place = read.error.issues[0]?.path.join('.').slice(0, maxPlace) ?? '';
  throw new NotUnderstood(
    place === ''
      ? 'What was sent cannot be understood: it has another form than the one that is documented.'
      : `What was sent cannot be understood: \`${place}\` has another form than the one that is documented.`,
  );
}
const maxPlace = 100;

/** Parses a stored JSON text. @throws NotUnderstood */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotUnderstood('What was sent cannot be understood: it is no JSON.');
  }
}

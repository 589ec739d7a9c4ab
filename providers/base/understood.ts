/**
 * Reads what a service sent, at the edge of each handler. A signature says who sent something, not that it has the form that is
 * documented. What has another form is ignored with the reason: to try it again would end the same way, and hold back what comes
 * after it.
 */
import type { z } from 'zod';

/** The message is for members; it names the place and nothing of what stands there. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
}

/** @throws NotUnderstood */
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

/** The JSON in a stored text. @throws NotUnderstood */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotUnderstood('What was sent cannot be understood: it is no JSON.');
  }
}

/**
 * Issues that are made in Linear. Their ids are chosen here, so that an attempt after one that may have arrived makes nothing
 * twice; where ids cannot be chosen, as with some stand-ins for Linear, an issue is found by a mark in its description.
 */
import { createHash } from 'node:crypto';
import { LinearError, type Linear, type LinearIssue, type NewIssue } from './client.ts';
import { removeLink } from '../../models/events/link.ts';

/** An id for what is made in Linear, in the form of a UUID: the same for the same text. */
export function idFrom(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** An issue that Linear does not have is an error of its own there. */
export const found = <T>(asked: Promise<T | null>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof LinearError && error.permanent && !error.unauthorized) return null;
    throw error;
  });

export type Making = {
  linear: Linear;
  key: string;
  /** With its id. */
  input: NewIssue & { id: string };
  /** In the description. */
  mark: string;
  /** Whether an earlier attempt may have made it. */
  again: boolean;
  /** Stores what stands behind the issue with this id, and gives the link's id. */
  link(external: string): Promise<string>;
  signal: AbortSignal;
};

/** The issue: the one that an earlier attempt made, or a new one. @throws LinearError */
export async function makeIssue(making: Making): Promise<LinearIssue> {
  const { linear, key, input, again, link, signal } = making;
  const before = again ? await found(linear.issue(key, input.id, signal)) : null;
  if (before) return before;
  // Linked first: what Linear tells about the new issue may arrive before its answer.
  const linked = await link(input.id);
  try {
    return await linear.createIssue(key, input, signal);
  } catch (error) {
    if (!(error instanceof LinearError) || !error.permanent) throw error;
    // Where ids cannot be chosen, none was made with this one.
    const there = error.unknownField ? null : await found(linear.issue(key, input.id, signal));
    if (there) return there;
    await removeLink(linked);
    if (!error.unknownField) throw error;
  }
  return makeWithoutId(making);
}

async function makeWithoutId({ linear, key, input, mark, again, signal }: Making): Promise<LinearIssue> {
  const { id: _id, ...rest } = input;
  const before = again ? await linear.findByMark(key, mark, signal) : undefined;
  const standing = before === undefined ? null : await found(linear.issue(key, before, signal));
  return standing ?? linear.createIssue(key, rest, signal);
}

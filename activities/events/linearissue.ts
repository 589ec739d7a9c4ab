/**
 * Issues that are made in Linear. Their ids are chosen here, so that an attempt after one that may have arrived makes nothing
 * twice; where ids cannot be chosen, as with some stand-ins for Linear, an issue is found by a mark in its description.
 */
import { LinearError, type Linear, type LinearIssue, type NewIssue } from '../../clients/linear/linear.ts';
import { removeLink } from '../../models/events/link.ts';

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

/**
 * Creates issues in Linear without duplicates. The caller chooses the issue's id, so a retry finds the issue that an
 * earlier attempt created. Servers that do not accept chosen ids are searched for a marker in the description.
 */
import { createHash } from 'node:crypto';
import { LinearError, type Linear, type LinearIssue, type NewIssue } from './client.ts';
import type { OutgoingRequest } from '../../models/rules/events/delivery.ts';
import { removeLink } from '../../models/events/link.ts';
import type { Integration } from '../../models/integrations/integration.ts';

/** The destination's name for members: the team in which issues are created. */
export function teamOf(integration: Integration | null): string {
  const name = integration?.settings['team_name'];
  return typeof name === 'string' ? `Linear ${name}` : 'Linear';
}

/** The request that sends `asked` to Linear, without the API key. */
export const requestOf = ({ url }: Linear, asked: { query: string; variables: object }): OutgoingRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', authorization: '' },
  body: JSON.stringify(asked),
});

/** A deterministic UUID for a record in Linear, derived from the text. */
export function idFrom(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * The id that this system chooses for the issue of a ticket or task in a workspace. Ids of different workspaces differ,
 * because a link is found by the issue's id alone.
 */
export const issueIdOf = (subjectId: string, integration: Pick<Integration, 'workspace'> | null): string =>
  idFrom(`issue of ${subjectId} in ${integration?.workspace ?? ''}`);

/**
 * Linear reports a missing issue as an error; this function returns null for that error. Any other error is thrown,
 * because it does not say whether the issue exists.
 */
export const found = <T>(asked: Promise<T | null>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof LinearError && error.missing) return null;
    throw error;
  });

export type Making = {
  linear: Linear;
  key: string;
  input: NewIssue & { id: string };
  /**
   * A unique text that is put into the issue's description. A search for it finds the issue that an earlier attempt
   * created.
   */
  mark: string;
  /** Whether an earlier attempt may have created the issue. */
  again: boolean;
  /** Links the issue with this id to the local record. Returns the link's id. */
  link(external: string): Promise<string>;
  signal: AbortSignal;
};

/** `isNew`: false for an issue that an earlier attempt created. Its content may differ from `input`. */
type Made = { issue: LinearIssue; isNew: boolean };
const foundBefore = (issue: LinearIssue): Made => ({ issue, isNew: false });

/** Returns the issue that an earlier attempt created, or a new one. @throws LinearError */
export async function makeIssue(making: Making): Promise<Made> {
  const { linear, key, input, again, link, signal } = making;
  const before = again ? await found(linear.issue(key, input.id, signal)) : null;
  if (before) return foundBefore(before);
  // The link is stored first, because Linear's event about the new issue may arrive before the response.
  const linked = await link(input.id);
  try {
    return { issue: await linear.createIssue(key, input, signal), isNew: true };
  } catch (error) {
    if (!(error instanceof LinearError) || !error.permanent) throw error;
    // A server that does not accept chosen ids has no issue with this id.
    const there = error.unknownField ? null : await found(linear.issue(key, input.id, signal));
    if (there) return foundBefore(there);
    await removeLink(linked);
    if (!error.unknownField) throw error;
  }
  return makeWithoutId(making);
}

async function makeWithoutId({ linear, key, input, mark, again, signal }: Making): Promise<Made> {
  const { id: _id, ...rest } = input;
  const before = again ? await linear.findByMark(key, mark, signal) : undefined;
  const standing = before === undefined ? null : await found(linear.issue(key, before, signal));
  return standing ? foundBefore(standing) : { issue: await linear.createIssue(key, rest, signal), isNew: true };
}

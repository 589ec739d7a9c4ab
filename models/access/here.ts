/**
 * The members of an organization who are present: they are connected and have not set themselves to away. Notices for
 * the whole team go to these members, or to all members when nobody is present.
 */
import type { Organization } from './organization.ts';
import { membersHere } from '../live/presence.ts';

export const hereOf = ({ _id, members }: Organization, now: Date): Promise<string[]> =>
  membersHere(
    _id,
    members.filter(({ away }) => !away).map(({ user_id }) => user_id),
    now,
  );

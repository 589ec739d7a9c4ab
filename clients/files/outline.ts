/**
 * Distinguishes rows and columns hidden by a collapsed group from those that the author hid one by one. A group
 * consists of adjacent rows (or columns) with at least the same outline level; collapsing hides all of them.
 */

/** `seen`: whether any member of the group is visible, which is known only after the group's end. */
export type Group = { seen: boolean };

/** Excel allows seven outline levels. */
const maxLevels = 7;

export type Outline = {
  /** Call this for each row or column in order. Returns the group of the row or column, if any. */
  next(at: { number: number; level: number; hidden: boolean }): Group | undefined;
};

export function createOutline(): Outline {
  /** The open groups by outline level; level 1 is first. */
  let groups: Group[] = [];
  let last = 0;
  return {
    next({ number, level, hidden }) {
      const depth = Math.min(Math.max(0, Math.floor(level) || 0), maxLevels);
      groups = number === last + 1 ? groups.slice(0, depth) : [];
      last = number;
      while (groups.length < depth) groups.push({ seen: false });
      if (!hidden) for (const group of groups) group.seen = true;
      return groups.at(-1);
    },
  };
}

/** Whether a hidden row or column stays hidden: it is in no group, or other members of its group are visible. */
export const staysHidden = (hidden: boolean, group: Group | undefined): boolean =>
  hidden && (group === undefined || group.seen);

/**
 * Tells rows and columns that a collapsed group hides from those that the author hid one by one. A group of a sheet's
 * outline is the neighbouring rows of at least one level; collapsing it hides all of them.
 */

/** Whether any part of a group is visible. Known once the group has ended. */
export type Group = { seen: boolean };

/** Excel's outlines have seven levels. */
const maxLevels = 7;

export type Outline = {
  /** Call this for each row or column in order; it returns the group that the row or column belongs to, if any. */
  next(at: { number: number; level: number; hidden: boolean }): Group | undefined;
};

export function createOutline(): Outline {
  /** The open groups by their level, level 1 first. */
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

/** Whether a hidden row or column stays hidden: it is in no group, or others of its group are visible. */
export const staysHidden = (hidden: boolean, group: Group | undefined): boolean =>
  hidden && (group === undefined || group.seen);

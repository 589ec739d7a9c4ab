/**
 * Tells rows and columns that a collapsed group hides from those that the author hid one by one. A group of a sheet's
 * outline is the neighbouring rows of at least one level; collapsing it hides all of them.
 */

/** Whether anything of a group is seen. Known once the group has ended. */
export type Group = { seen: boolean };

/** Excel's outlines have seven levels. */
const maxLevels = 7;

export type Outline = {
  /** To be called for each row or column in order, with its number; gives the group it belongs to, if any. */
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

/** Whether something hidden stays hidden: it is in no group, or others of its group are seen. */
export const staysHidden = (hidden: boolean, group: Group | undefined): boolean =>
  hidden && (group === undefined || group.seen);

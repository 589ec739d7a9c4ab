/** Bounds how many attempts of one destination are under way in this process. */

/** `enter` returns the function that leaves again, or null when there is no room. */
export function createGate(most: number): { enter(destination: string): (() => void) | null } {
  const inside = new Map<string, number>();
  return {
    enter(destination) {
      const now = inside.get(destination) ?? 0;
      if (now >= most) return null;
      inside.set(destination, now + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        const after = inside.get(destination)! - 1;
        if (after === 0) inside.delete(destination);
        else inside.set(destination, after);
      };
    },
  };
}

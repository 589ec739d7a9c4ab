/** Limits the attempts in flight to one destination, within this process. */

/**
 * `most`: the limit. `enter` is called before an attempt. It returns the function to call after the attempt, or null
 * when the limit is reached.
 */
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

/** How questions without an answer are brought together. */
import { describe, expect, it } from '@jest/globals';
import { gapGroup, gapReason, nearestGroup } from '../../../models/rules/knowledge/gap.ts';

/** A vector at this angle, in degrees. */
const at = (angle: number): Float32Array =>
  Float32Array.from([Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)]);

describe('questions without an answer', () => {
  it('meet by meaning: the nearest one that asks the same gives the group', () => {
    const known = [
      { group: 'cash', vector: at(0) },
      { group: 'cards', vector: at(50) },
    ];
    expect(nearestGroup(at(10), known)).toBe('cash');
    expect(nearestGroup(at(45), known)).toBe('cards');
    expect(nearestGroup(at(120), known)).toBeUndefined();
    expect(nearestGroup(at(0), [])).toBeUndefined();
  });

  it('of another length are not compared', () => {
    expect(nearestGroup(at(0), [{ group: 'a', vector: Float32Array.from([1, 0, 0]) }])).toBeUndefined();
  });

  it('meet by their words where they cannot be compared', () => {
    expect(gapGroup(['b', 'a', 'b'], 'x')).toBe('a b');
    expect(gapGroup([], ' What? ')).toBe('what?');
  });

  it.each([
    [0, false, 'nothing_found'],
    [3, false, 'not_relevant'],
    [3, true, 'out_of_segment'],
  ])('%i candidates, elsewhere: %s: %s', (candidates, anywhere, reason) => {
    expect(gapReason(candidates, anywhere)).toBe(reason);
  });
});

import { describe, expect, it } from '@jest/globals';
import { gapGroup, gapReason, nearestGroup } from '../../../models/rules/knowledge/gap.ts';

/** Returns a unit vector at the angle, in degrees. */
const at = (angle: number): Float32Array =>
  Float32Array.from([Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)]);

describe('unanswered questions', () => {
  it('an unanswered question joins the nearest group by embeddings, if one is near enough', () => {
    const known = [
      { group: 'cash', vector: at(0) },
      { group: 'cards', vector: at(50) },
    ];
    expect(nearestGroup(at(10), known)).toBe('cash');
    expect(nearestGroup(at(45), known)).toBe('cards');
    expect(nearestGroup(at(120), known)).toBeUndefined();
    expect(nearestGroup(at(0), [])).toBeUndefined();
  });

  it('vectors of different lengths are not compared', () => {
    expect(nearestGroup(at(0), [{ group: 'a', vector: Float32Array.from([1, 0, 0]) }])).toBeUndefined();
  });

  it('unanswered questions are grouped by their words when there are no vectors', () => {
    expect(gapGroup(['b', 'a', 'b'], 'x')).toBe('a b');
    expect(gapGroup([], ' What? ')).toBe('what?');
  });

  it.each([
    [0, false, 'nothing_found'],
    [3, false, 'not_relevant'],
    [3, true, 'out_of_segment'],
  ])('%i candidates (and an answer in another segment: %s) give the gap reason %s', (candidates, anywhere, reason) => {
    expect(gapReason(candidates, anywhere)).toBe(reason);
  });
});

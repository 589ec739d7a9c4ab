import { describe, expect, it } from '@jest/globals';
import { gapGroup, gapReason, sameQuestions } from '../../../models/rules/knowledge/gap.ts';

/** Returns a unit vector at the angle, in degrees. */
const at = (angle: number): Float32Array =>
  Float32Array.from([Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)]);

describe('unanswered questions', () => {
  it('sameQuestions returns the known questions whose vectors are near enough, the nearest first', () => {
    const known = new Map([
      ['cash', at(0)],
      ['cards', at(50)],
    ]);
    expect(sameQuestions(at(10), known)).toEqual(['cash']);
    expect(sameQuestions(at(30), known)).toEqual(['cards', 'cash']);
    expect(sameQuestions(at(120), known)).toEqual([]);
    expect(sameQuestions(at(0), new Map())).toEqual([]);
  });

  it('sameQuestions ignores a known question whose vector has another length', () => {
    expect(sameQuestions(at(0), new Map([['a', Float32Array.from([1, 0, 0])]]))).toEqual([]);
  });

  it('unanswered questions are grouped by their words when there are no vectors', () => {
    expect(gapGroup(['b', 'a', 'b'], 'x')).toBe('a b');
    expect(gapGroup([], ' What? ')).toBe('what?');
  });

  it.each([
    [0, false, 'nothing_found'],
    [3, false, 'not_relevant'],
    [3, true, 'out_of_segment'],
  ])(
    'a question with %i candidates, answered in another segment: %s, is recorded as unanswered because of %s',
    (candidates, anywhere, reason) => {
      expect(gapReason(candidates, anywhere)).toBe(reason);
    },
  );
});

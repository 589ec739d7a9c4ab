import { expect, it } from '@jest/globals';
import { inTurns } from '../../../models/rules/base/turns.ts';

it.each([
  ['', ''],
  ['a1', 'a1'],
  ['a1 a2 a3', 'a1 a2 a3'],
  ['a1 a2 a3 b1', 'a1 b1 a2 a3'],
  ['b1 a1 b2 c1 a2 b3', 'b1 a1 c1 b2 a2 b3'],
])('inTurns reorders the items %j to %j, so that owners take turns', (items, taken) => {
  expect(inTurns(items.split(' '), (item) => item.slice(0, 1)).join(' ')).toBe(taken);
});

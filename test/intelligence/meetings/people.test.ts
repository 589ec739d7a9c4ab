import { describe, expect, it } from '@jest/globals';
import { namesOf, someoneNamed } from '../../../intelligence/offline/meetings/people.ts';

const members = [
  { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  { userId: 'bob', name: 'Bob van Dyke', email: 'b.van.dyke@example.com' },
  { userId: 'bob2', name: 'Bob Miller', email: 'bob.miller@example.com' },
  { userId: 'zoe', name: 'Zoë Núñez', email: 'zn@example.com' },
];

describe('someoneNamed', () => {
  it.each([
    ['Ada Lovelace', { userId: 'ada' }],
    ['ada', { userId: 'ada' }],
    ['Lovelace', { userId: 'ada' }],
    ['Ada L.', { userId: 'ada' }],
    ['A. Lovelace', { userId: 'ada' }],
    ['Ada Lovelace (Acme)', { userId: 'ada' }],
    ['Ada Lovelace <ADA@example.com>', { userId: 'ada' }],
    ['Zoe Nunez', { userId: 'zoe' }],
    ['Bob Miller', { userId: 'bob2' }],
    ['bob.miller', { userId: 'bob2' }],
    ['Bob Dyke', { userId: 'bob' }],
    ['eve@partner.example', { email: 'eve@partner.example' }],
    ['Bob', undefined],
    ['Eve', undefined],
    ['Speaker 1', undefined],
    ['', undefined],
  ])('the spoken name “%s” means the person %j (undefined: nobody)', (said, someone) => {
    expect(someoneNamed(said, members)).toEqual(someone);
  });
});

describe('namesOf', () => {
  it('namesOf returns the longest names first and omits lower-case names', () => {
    expect(namesOf([{ name: 'Bob van Dyke (Acme)' }, { name: 'speaker 1' }])).toEqual(['Bob van Dyke', 'Dyke', 'Bob']);
  });
});

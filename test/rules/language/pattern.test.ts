/** Regular expressions of the project: none has a modifier, which V8 sometimes ignores. */
import { expect, it } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { inAnyCase } from '../../../models/rules/language/pattern.ts';

const rooms = 'activities,agent,api,cli,clients,engines,intelligence,models,providers,web,workers,workflows';

it('no regular expression of the project has modifiers such as `(?i:…)`, which V8 sometimes ignores', () => {
  const files = globSync(`{${rooms}}/**/*.{ts,tsx,mjs}`);
  expect(files.length).toBeGreaterThan(500);
  const modified = /^(?! *\*).*\(\?-?[ims]+(?:-[ims]+)?:/m;
  expect(files.filter((file) => modified.test(readFileSync(file, 'utf8')))).toEqual([]);
  expect(modified.test('const best = /^(?i:best)$/u;')).toBe(true);
});

it('inAnyCase makes a pattern that matches each of its alternatives in upper and lower case', () => {
  const pattern = new RegExp(`^(?:${inAnyCase('über uns|go')})$`, 'u');
  expect(['Über Uns', 'GO', 'go', 'gone', 'üb'].map((text) => pattern.test(text))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

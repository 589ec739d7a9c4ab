import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { isIn, readSources, type Source } from './imports.ts';
import { narrow, smoke, testsFor } from '../changed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let sources: Source[];
beforeAll(async () => {
  sources = await readSources(root);
});
const chosen = (...changed: string[]): string[] => testsFor(changed, sources);
const all = (prefix: string): string[] =>
  sources
    .map(({ path }) => path)
    .filter((path) => path.startsWith(prefix) && path.endsWith('.test.ts') && !(path in narrow));

/**
 * Columns: a changed file, folders whose tests all run except the long ones, single tests that run, and tests that do
 * not run.
 */
const examples: readonly [changed: string, folders: string[], tests: string[], not: string[]][] = [
  ['models/chat/act.ts', ['test/chat/', 'test/rules/chat/'], ['test/chat/inbox.test.ts'], ['test/crawl/crawl.test.ts']],
  ['models/rules/crawl/url.ts', ['test/crawl/', 'test/rules/crawl/'], [], ['test/chat/chat.test.ts']],
  ['api/access/routes/keys.ts', ['test/access/', 'test/rules/access/'], [], ['test/crawl/crawl.test.ts']],
  ['api/chat/contract/customers.ts', ['test/chat/'], ['test/base/fuzz.test.ts'], ['test/knowledge/documents.test.ts']],
  ['workflows/crawl/crawl.ts', ['test/crawl/', 'test/workflows/'], ['test/crawl/crawldeaths.test.ts'], []],
  ['clients/files/xlsx.ts', ['test/knowledge/'], ['test/knowledge/files.test.ts'], ['test/chat/chat.test.ts']],
  ['clients/crawl/render/tab.ts', ['test/crawl/'], ['test/crawl/render.test.ts'], ['test/knowledge/documents.test.ts']],
  ['agent/chat/turn.ts', ['test/chat/'], ['test/chat/chatproperty.test.ts'], ['test/crawl/crawl.test.ts']],
  ['web/widget/app.ts', [], ['test/chat/widget.test.ts', 'test/chat/widgetstate.test.ts'], ['test/chat/chat.test.ts']],
  ['cli/main.ts', ['test/cli/'], [], ['test/chat/chat.test.ts']],
  ['test/kit/badfiles.ts', [], ['test/knowledge/hostile.test.ts'], []],
  ['test/chat/inbox.test.ts', [], ['test/chat/inbox.test.ts'], ['test/chat/chat.test.ts']],
  ['docs/operating.md', ['test/house/'], [], smoke.filter((path) => path.startsWith('test/base/h'))],
];

describe('the tests that run after a change', () => {
  it.each(examples)('a change of %s runs the tests that depend on that file', (changed, folders, tests, not) => {
    const runs = chosen(changed);
    expect(runs).toEqual(expect.arrayContaining([...folders.flatMap(all), ...tests]));
    expect(runs.filter((test) => not.includes(test))).toEqual([]);
  });

  it.each(['models/rules/base/errors.ts', 'api/http/route.ts', 'models/base/connect.ts', 'config.ts', 'package.json'])(
    'a change of %s, on which every slice depends, runs the set of smoke tests',
    (changed) => {
      const wanted = sources.map(({ path }) => path).filter((path) => smoke.some((prefix) => path.startsWith(prefix)));
      expect(chosen(changed)).toEqual(expect.arrayContaining(wanted.filter((path) => path.endsWith('.test.ts'))));
    },
  );

  it.each(['api/base/contract/common.ts', 'test/kit/harness.ts'])(
    'a change of %s, on which most tests depend, runs the smoke tests and less than a third of all tests',
    (changed) => {
      const runs = chosen(changed);
      expect(runs).toEqual(expect.arrayContaining(['test/chat/inbox.test.ts', 'test/base/security.test.ts']));
      expect(runs.length).toBeLessThan(all('test/').length / 3);
    },
  );

  it('a change of several files runs the tests of each file, and no test twice', () => {
    const both = chosen('models/chat/act.ts', 'models/crawl/crawl.ts');
    expect(both).toEqual(expect.arrayContaining([...all('test/chat/'), ...all('test/crawl/')]));
    expect(new Set(both).size).toBe(both.length);
  });

  it('no change runs a removed test or a soak test', () => {
    expect(chosen('test/chat/gone.test.ts', 'test/soak/fuzz.test.ts')).toEqual([]);
  });
});

describe('the tables of changed.ts', () => {
  it('the tables of changed.ts name existing files only', () => {
    const paths = sources.map(({ path }) => path);
    const missing = [...smoke, ...Object.keys(narrow), ...Object.values(narrow).flat()].filter(
      (prefix) => !paths.some((path) => isIn(path, prefix)),
    );
    expect(missing).toEqual([]);
  });

  it('every long-running test is run by a change of some file', () => {
    for (const [test, prefixes] of Object.entries(narrow)) {
      const changed = sources.map(({ path }) => path).find((path) => isIn(path, prefixes[0]!));
      expect([test, changed]).toEqual([test, expect.any(String)]);
      expect([test, chosen(changed!).includes(test)]).toEqual([test, true]);
    }
  });
});

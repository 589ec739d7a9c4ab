/** The import directions hold in every file, and the check that says so can fail. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it, expect } from '@jest/globals';
import { importViolations, rooms } from './imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** One forbidden import for every room: what it says, in which file. */
const forbidden: readonly [file: string, source: string, named: string][] = [
  ['models/rules/a.ts', `import { readFile } from 'node:fs';`, 'node:fs'],
  ['models/rules/b.ts', `import type { Model } from 'mongoose';`, 'mongoose'],
  ['models/a.ts', `export { a } from '../api/app.ts';`, '../api/app.ts'],
  ['api/contract/a.ts', `import Koa from 'koa';`, 'koa'],
  ['api/contract/b.ts', `import { findOrg } from '../../models/organization.ts';`, '../../models/organization.ts'],
  ['api/a.ts', `const later = await import('../activities/document.ts');`, '../activities/document.ts'],
  ['api/b.ts', `import { send } from '../clients/mail.ts';`, '../clients/mail.ts'],
  ['workflows/a.ts', `import { createActivities } from '../activities/document.ts';`, '../activities/document.ts'],
  ['workflows/b.ts', `import 'node:crypto';`, 'node:crypto'],
  ['clients/a.ts', `import { findOrg } from '../models/organization.ts';`, '../models/organization.ts'],
  ['activities/a.ts', `import type { Context } from '../api/context.ts';`, '../api/context.ts'],
  ['activities/b.ts', `export let x: import('../workflows/document.ts').Input;`, '../workflows/document.ts'],
  ['cli/main.ts', `import { startMongod } from '../engines/mongod.ts';`, '../engines/mongod.ts'],
  ['cli/demo.ts', `import { app } from '../api/app.ts';`, '../api/app.ts'],
  ['agent/a.ts', `import { acceptMessage } from '../api/chat.ts';`, '../api/chat.ts'],
  ['web/a.ts', `import type { Frame } from '../models/frame.ts';`, '../models/frame.ts'],
  ['config.ts', `import Koa from 'koa';`, 'koa'],
  ['test/a.ts', `import { parse } from 'not-in-package-json/deep';`, 'not-in-package-json/deep'],
];

const welcome: readonly [file: string, source: string][] = [
  ['models/rules/a.ts', `import { Problem } from './errors.ts';`],
  [
    'models/a.ts',
    `import mongoose from 'mongoose'; import { Problem } from './rules/errors.ts'; import 'node:crypto';`,
  ],
  ['api/contract/a.ts', `import { z } from 'zod'; import { tiers } from '../../models/rules/authority.ts';`],
  ['api/a.ts', `import Koa from 'koa'; import type { Ai } from '../clients/ai.ts'; import { x } from '../config.ts';`],
  ['workflows/a.ts', `import type { Activities } from '../activities/document.ts';\nimport '@temporalio/workflow';`],
  ['cli/demo.ts', `import { startMongod } from '../engines/mongod.ts';`],
  ['engines/a.ts', `import { app } from '../api/app.ts';`],
];

/** What the pretended projects declare: everything that the lists above name but one. */
const declared = { koa: '3', mongoose: '9', zod: '4', '@temporalio/workflow': '1' };

async function inProject<T>(
  files: readonly (readonly [string, string, ...unknown[]])[],
  look: (root: string) => Promise<T>,
) {
  const folder = await mkdtemp(join(tmpdir(), 'imports-'));
  try {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ dependencies: declared }));
    for (const [file, source] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), source);
    }
    return await look(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('import directions', () => {
  it('hold in every file of the project', async () => {
    expect(await importViolations(root)).toEqual([]);
  });

  it.each(forbidden)('%s with %s is refused', async (file, source, named) => {
    const found = await inProject([[file, source]], importViolations);
    expect(found).toEqual([expect.stringContaining(`${file} may not import ${named}`)]);
  });

  it('every room has a forbidden import above', () => {
    const untested = rooms.filter(({ at }) => !forbidden.some(([file]) => file.startsWith(at)));
    expect(untested).toEqual([]);
  });

  it('what the table allows passes', async () => {
    expect(await inProject(welcome, importViolations)).toEqual([]);
  });
});

/**
 * The check of the import directions, the order of the slices and the absence of import cycles finds violations.
 * `npm run check` applies it to every file of the project, and `npm test` runs that check beside the tests.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, expect } from '@jest/globals';
import { belowSlices, importViolations, isIn, rooms, slicedRooms } from './imports.ts';

/**
 * One forbidden import for every room (a folder or file with import rules of its own): the file, its source, and the
 * name in the message.
 */
const forbidden: readonly [file: string, source: string, named: string][] = [
  ['models/rules/base/a.ts', `import { readFile } from 'node:fs';`, 'node:fs'],
  ['models/rules/base/b.ts', `import type { Model } from 'mongoose';`, 'mongoose'],
  ['models/base/a.ts', `export { a } from '../../api/app.ts';`, '../../api/app.ts'],
  ['api/access/contract/a.ts', `import Koa from 'koa';`, 'koa'],
  ['api/chat/contract/b.ts', `import { org } from '../../../models/access/org.ts';`, '../../../models/access/org.ts'],
  ['api/chat/contract/c.ts', `import { view } from '../view.ts';`, '../view.ts'],
  ['api/a.ts', `const later = await import('../activities/document.ts');`, '../activities/document.ts'],
  ['api/b.ts', `import { send } from '../clients/mail.ts';`, '../clients/mail.ts'],
  ['workflows/a.ts', `import { createActivities } from '../activities/document.ts';`, '../activities/document.ts'],
  ['workflows/b.ts', `import 'node:crypto';`, 'node:crypto'],
  ['workflows/chat/a.ts', `import { startSaved } from '../start.ts';`, '../start.ts'],
  ['workflows/start.ts', `import { startApi } from '../api/server.ts';`, '../api/server.ts'],
  ['workflows/tracing.ts', `import { startApi } from '../api/server.ts';`, '../api/server.ts'],
  ['workflows/encryption.ts', `import { startApi } from '../api/server.ts';`, '../api/server.ts'],
  ['clients/a.ts', `import { findOrg } from '../models/organization.ts';`, '../models/organization.ts'],
  [
    'providers/slack/a.ts',
    `import { send } from '../../activities/events/deliver.ts';`,
    '../../activities/events/deliver.ts',
  ],
  ['providers/slack/b.ts', `import type { Context } from '../../api/context.ts';`, '../../api/context.ts'],
  ...['github', 'linear', 'mail', 'slack', 'teams'].map((name): [string, string, string] => [
    `providers/${name}/rules.ts`,
    `import { findOrg } from '../../models/base/a.ts';`,
    '../../models/base/a.ts',
  ]),
  ['activities/base/a.ts', `import type { Context } from '../../api/context.ts';`, '../../api/context.ts'],
  [
    'activities/knowledge/b.ts',
    `export let x: import('../../workflows/knowledge/document.ts').Input;`,
    '../../workflows/knowledge/document.ts',
  ],
  ['cli/main.ts', `import { startMongod } from '../engines/mongod.ts';`, '../engines/mongod.ts'],
  ['cli/demo.ts', `import { app } from '../api/app.ts';`, '../api/app.ts'],
  ['cli/operator/secrets.ts', `import { app } from '../../api/app.ts';`, '../../api/app.ts'],
  ['cli/main.ts', `import { keyRoutes } from '../api/access/routes/keys.ts';`, '../api/access/routes/keys.ts'],
  ['agent/chat/a.ts', `import { accept } from '../../api/chat/accept.ts';`, '../../api/chat/accept.ts'],
  [
    'intelligence/a.ts',
    `import type { Meeting } from '../models/interviews/meeting.ts';`,
    '../models/interviews/meeting.ts',
  ],
  ['providers/slack/a.ts', `import { key } from '../../api/access/auth.ts';`, '../../api/access/auth.ts'],
  ['providers/slack/rules.ts', `import { connect } from './connect.ts';`, './connect.ts'],
  ['web/app/rules/a.ts', `import { go } from '../state/route.ts';`, '../state/route.ts'],
  ['web/app/api/a.ts', `import { go } from '../state/route.ts';`, '../state/route.ts'],
  ['web/app/api/a.ts', `import { z } from 'zod';`, 'zod'],
  [
    'web/app/api/a.ts',
    `import { hours } from '../../../api/access/contract/hours.ts';`,
    '../../../api/access/contract/hours.ts',
  ],
  ['web/app/texts/a.ts', `import { go } from '../state/route.ts';`, '../state/route.ts'],
  ['web/app/parts/a.ts', `import { go } from '../state/route.ts';`, '../state/route.ts'],
  ['web/app/state/a.ts', `import { App } from '../screens/app.tsx';`, '../screens/app.tsx'],
  ['web/app/screens/a.tsx', `import { make } from '../../widget/view.ts';`, '../../widget/view.ts'],
  ['web/a.ts', `import type { Frame } from '../models/frame.ts';`, '../models/frame.ts'],
  ['config.ts', `import Koa from 'koa';`, 'koa'],
  ['test/a.ts', `import { parse } from 'not-in-package-json/deep';`, 'not-in-package-json/deep'],
];

/** Imports that the room allows but the order of the slices does not. */
const backwards: readonly [file: string, source: string, named: string][] = [
  ['intelligence/model/chat/a.ts', `import { tasks } from '../tasks/review.ts';`, '../tasks/review.ts'],
  ['intelligence/offline/language/a.ts', `import { choose } from '../mcp/choose.ts';`, '../mcp/choose.ts'],
  ['models/rules/language/a.ts', `import { cut } from '../knowledge/chunks.ts';`, '../knowledge/chunks.ts'],
  ['models/knowledge/a.ts', `import { MessageModel } from '../chat/message.ts';`, '../chat/message.ts'],
  ['models/base/a.ts', `import { roles } from '../rules/access/roles.ts';`, '../rules/access/roles.ts'],
  [
    'activities/crawl/a.ts',
    `import type { Ticket } from '../../models/chat/ticket.ts';`,
    '../../models/chat/ticket.ts',
  ],
  ['api/access/a.ts', `export { x } from '../knowledge/source.ts';`, '../knowledge/source.ts'],
  ['api/chat/a.ts', `export let x: import('../events/delivery.ts').Delivery;`, '../events/delivery.ts'],
  [
    'api/access/contract/a.ts',
    `import { task } from '../../tasks/contract/tasks.ts';`,
    '../../tasks/contract/tasks.ts',
  ],
  [
    'agent/knowledge/a.ts',
    `import { findCustomer } from '../../models/chat/customer.ts';`,
    '../../models/chat/customer.ts',
  ],
  ['workflows/interviews/a.ts', `import type { X } from '../../activities/tasks/x.ts';`, '../../activities/tasks/x.ts'],
  ['clients/knowledge/a.ts', `import { read } from '../crawl/site/read.ts';`, '../crawl/site/read.ts'],
  [
    'test/workflows/crawl/a.ts',
    `import { inbound } from '../../../workflows/events/inbound.ts';`,
    '../../../workflows/events/inbound.ts',
  ],
  ['api/http/a.ts', `import { receive } from '../chat/frames.ts';`, '../chat/frames.ts'],
  ['api/http/b.ts', `import type { Page } from '../../models/crawl/page.ts';`, '../../models/crawl/page.ts'],
  ['api/live/a.ts', `import { receive } from '../chat/frames.ts';`, '../chat/frames.ts'],
];

/** Files that import each other, and the message for the cycle. */
const circles: readonly [circle: string, files: readonly (readonly [file: string, source: string])[]][] = [
  [
    'models/chat/a.ts imports models/chat/b.ts imports models/chat/a.ts',
    [
      ['models/chat/a.ts', `import { b } from './b.ts';`],
      ['models/chat/b.ts', `import { a } from './a.ts';`],
    ],
  ],
  [
    'clients/a.ts imports clients/b.ts imports clients/c.ts imports clients/a.ts',
    [
      ['clients/a.ts', `import { b } from './b.ts';`],
      ['clients/b.ts', `export { c } from './c.ts';`],
      ['clients/c.ts', `import type { A } from './a.ts';`],
    ],
  ],
  [
    'test/kit/a.ts imports test/kit/b.ts imports test/kit/a.ts',
    [
      ['test/kit/a.ts', `const { b } = await import('./b.ts');`],
      ['test/kit/b.ts', `export let a: import('./a.ts').A;`],
    ],
  ],
];

const welcome: readonly [file: string, source: string][] = [
  ['models/rules/events/a.ts', `import { escapeSlack } from '../../../providers/slack/rules.ts';`],
  ['providers/linear/a.ts', `import { a } from '../../models/chat/a.ts'; import { b } from '../slack/rules.ts';`],
  ['models/rules/access/a.ts', `import { Problem } from '../base/errors.ts';`],
  [
    'models/chat/a.ts',
    `import mongoose from 'mongoose'; import { Problem } from '../rules/base/errors.ts'; import 'node:crypto';`,
  ],
  ['models/chat/b.ts', `import { findDocument } from '../knowledge/document.ts'; import { a } from './a.ts';`],
  [
    'api/crawl/contract/a.ts',
    `import { z } from 'zod'; import { tiers } from '../../../models/rules/knowledge/authority.ts'; import { id } from '../../base/contract/common.ts';`,
  ],
  ['cli/keys.ts', `import { keyList } from '../api/access/contract/keys.ts';`],
  ['clients/files/a.ts', `import { Unreadable } from '../../models/rules/knowledge/document.ts';`],
  [
    'api/a.ts',
    `import Koa from 'koa'; import type { Intelligence } from '../intelligence/intelligence.ts'; import { x } from '../config.ts';`,
  ],
  ['api/http/route.ts', `import { authenticate } from '../access/auth.ts';`],
  ['api/http/app.ts', `import { mountWidget } from '../chat/widget.ts';`],
  ['api/access/routes/keys.ts', `import { findPage } from '../../models/crawl/page.ts';`],
  ['workflows/a.ts', `import type { Activities } from '../activities/chat/turn.ts';\nimport '@temporalio/workflow';`],
  [
    'web/app/api/a.ts',
    `import type { z } from 'zod';\nimport type * as hours from '../../../api/access/contract/hours.ts';`,
  ],
  ['cli/demo.ts', `import { startMongod } from '../engines/mongod.ts';`],
  ['engines/a.ts', `import { app } from '../api/app.ts';`],
  ['test/a.ts', `import { a } from './b.ts'; import { c } from './c.ts';`],
  ['test/b.ts', `import { c } from './c.ts';`],
];

/** The packages that the example projects declare: all packages that the lists above import, except one. */
const declared = { koa: '3', mongoose: '9', zod: '4', '@temporalio/workflow': '1' };

async function inProject<T>(
  files: readonly (readonly [file: string, source: string, ...rest: unknown[]])[],
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
  it.each(forbidden)(
    'the forbidden import of the file %s with the source %s is reported',
    async (file, source, named) => {
      const found = await inProject([[file, source]], importViolations);
      expect(found).toEqual([expect.stringContaining(`${file} may not import ${named}`)]);
    },
  );

  it.each(backwards)(
    'the file %s with the source %s is refused because it imports a slice that comes later in the order of slices',
    async (file, source, named) => {
      const found = await inProject([[file, source]], importViolations);
      expect(found).toEqual([expect.stringMatching(/^\S+ may not import \S+ \(the slice \w+ comes after \w+\)$/)]);
      expect(found[0]).toContain(`${file} may not import ${named}`);
    },
  );

  it.each(['models/a.ts', 'models/rules/a.ts', 'models/rules/made-up/a.ts', 'activities/a.ts', 'agent/a.ts'])(
    'the file %s is refused because it is in no slice',
    async (file) => {
      const found = await inProject([[file, '']], importViolations);
      expect(found).toEqual([expect.stringContaining(`${file} is in no slice`)]);
    },
  );

  it.each(circles)('the import cycle %s is refused', async (circle, files) => {
    expect(await inProject(files, importViolations)).toEqual([`${circle}: a circle`]);
  });

  it('these tests try a forbidden import for every top-level folder (room), and a wrong slice order for every room with slices', () => {
    const untested = [
      ...rooms.filter(({ at }) => !forbidden.some(([file]) => isIn(file, at))),
      ...[...slicedRooms.map(({ at }) => at), ...belowSlices].filter(
        (at) => !backwards.some(([file]) => file.startsWith(at)),
      ),
    ];
    expect(untested).toEqual([]);
  });

  it('an allowed import is accepted', async () => {
    expect(await inProject(welcome, importViolations)).toEqual([]);
  });
});

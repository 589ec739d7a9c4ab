/**
 * `npm run histories [-- KIND…]`: runs the plain stories (plainstories.ts) and stores their histories in
 * test/histories/, one file per kind of workflow, one event per line.
 * Values that differ between recordings without meaning are omitted or normalized.
 */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { plainStories, type Kind } from './plainstories.ts';
import { startStoryServer, type StoryServer } from './storyserver.ts';
import { findTestServer } from '../../engines/testserver.ts';
import { bundleWorkflows } from '../../workers/bundle.ts';
import * as workflows from '../../workflows/index.ts';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));

/** Attributes about the worker and about sizes, which a replay does not read. */
const idle: ReadonlySet<string> = new Set([
  'identity',
  'binaryChecksum',
  'meteringMetadata',
  'historySizeBytes',
  'requestId',
  'taskId',
]);
const uuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** The time of the first event of each history; later events keep their distance from it. */
const beginning = Date.parse('2026-01-01T00:00:00.000Z');

/** The workflows' export names are the names of their kinds. */
const byKind: Readonly<Record<Kind, unknown>> = workflows;

type StoredEvent = { eventTime: string };

/** The history of a plain story from its first event to its last. */
async function tell(server: StoryServer, kind: Kind): Promise<string> {
  const { ref, activities, meanwhile } = plainStories[kind];
  let handle: WorkflowHandle;
  const telling = {
    workflow: byKind[kind] as (...args: object[]) => Promise<unknown>,
    args: ref === undefined ? [] : [ref],
    activities: activities(() => handle),
    workflowId: `history-${kind}`,
    async meanwhile(started: WorkflowHandle) {
      handle = started;
      await meanwhile?.(started);
    },
  };
  try {
    await server.run(telling);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure)) throw error;
  }
  return historyToJSON(await handle!.fetchHistory());
}

/** Normalizes a history: ids are numbered in order of appearance, and all histories start at the same time. */
function even(history: string): string {
  const numbers = new Map<string, string>();
  const numbered = history.replaceAll(uuid, (id) => {
    const known = numbers.get(id) ?? `00000000-0000-4000-8000-${String(numbers.size + 1).padStart(12, '0')}`;
    numbers.set(id, known);
    return known;
  });
  const { events } = JSON.parse(numbered, (key, value: unknown) => (idle.has(key) ? undefined : value)) as {
    events: StoredEvent[];
  };
  const begun = Date.parse(events[0]!.eventTime);
  const lines = events.map((event) => {
    const eventTime = new Date(beginning + Date.parse(event.eventTime) - begun).toISOString();
    return JSON.stringify({ ...event, eventTime });
  });
  return `{"events":[\n${lines.join(',\n')}\n]}\n`;
}

async function main(asked: readonly string[]): Promise<void> {
  const kinds = Object.keys(plainStories) as Kind[];
  const unknown = asked.filter((name) => !kinds.includes(name as Kind));
  if (unknown.length > 0) throw new Error(`no kind of workflow: ${unknown.join(', ')}`);
  const { code } = await bundleWorkflows();
  const server = await startStoryServer(await findTestServer(() => undefined), code);
  try {
    for (const kind of asked.length > 0 ? (asked as Kind[]) : kinds) {
      await writeFile(`${folder}${kind}.json`, even(await tell(server, kind)));
      process.stdout.write(`${kind}\n`);
    }
  } finally {
    await server.stop();
  }
  // A history of an earlier version has its kind as prefix: `eraseTask-before-owner-told.json`.
  const isKnown = (name: string): boolean => kinds.includes(name.split(/[-.]/)[0] as Kind);
  for (const name of await readdir(folder)) if (!isKnown(name)) await rm(`${folder}${name}`);
}

await main(process.argv.slice(2));
process.exit();

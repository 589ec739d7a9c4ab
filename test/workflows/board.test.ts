/** What operators see: each kind of workflow, activity and timer has a description, and all details have one shape. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { stories } from './story.ts';
import { detailsOf } from './storyserver.ts';
import { fleets } from '../../workers/fleets.ts';
import type { WorkerDeps } from '../../workers/slices/slice.ts';
import { introduced } from '../../workflows/base/introduced.ts';
import { activities, kinds } from '../../workflows/base/kinds.ts';
import * as workflows from '../../workflows/index.ts';
import { eraseTask } from '../../workflows/tasks/taskerasure.ts';

const { tell } = stories();
const folder = new URL('../histories/', import.meta.url);

/** A value that may be called and read without end, for factories of activities that are never run. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_target, key) => (key === 'then' ? undefined : key === Symbol.toPrimitive ? () => '' : anything),
  apply: () => anything,
});

describe('the descriptions that operators see', () => {
  it('every workflow has a description for operators in the table `kinds`, and no removed workflow has one', () => {
    expect(Object.keys(kinds).toSorted()).toEqual(Object.keys(workflows).toSorted());
  });

  it('every activity of the fleets has a description, and no removed activity has one', () => {
    const named = Object.values(fleets).flatMap((fleet) => Object.keys(fleet.activities(anything as WorkerDeps)));
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(activities).toSorted());
  });

  it('the summary of a workflow names its kind, its subject and its organization in at most 400 bytes', () => {
    expect(introduced('processDocument', 'document:doc_1:2', 'org_1', 'test').staticSummary).toBe(
      'Document doc_1:2 of org_1',
    );
    const long = introduced('sendLine', `delivery:${'x'.repeat(2_000)}`, 'org_1');
    expect(Buffer.byteLength(long.staticSummary)).toBeLessThanOrEqual(400);
  });

  it('every activity and every timer of the stored histories has a summary', async () => {
    const lacking: string[] = [];
    let seen = 0;
    for (const name of await readdir(folder)) {
      const { events } = JSON.parse(await readFile(new URL(name, folder), 'utf8')) as {
        events: { eventId: string; eventType: string; userMetadata?: { summary?: unknown } }[];
      };
      for (const { eventId, eventType, userMetadata } of events) {
        if (!/_(?:ACTIVITY_TASK_SCHEDULED|TIMER_STARTED)$/.test(eventType)) continue;
        seen += 1;
        const summary = userMetadata?.summary as { data: string } | undefined;
        const said = summary ? (JSON.parse(Buffer.from(summary.data, 'base64').toString()) as string) : '';
        if (said === '' || said === 'a timer') lacking.push(`${name}: event ${eventId}`);
      }
    }
    expect(seen).toBeGreaterThan(80);
    expect(lacking).toEqual([]);
  });
});

describe('the details of a workflow', () => {
  it('the details of a workflow show operators its wait, its latest failure and the possible commands', async () => {
    let tries = 0;
    const shown: string[] = [];
    await tell(
      eraseTask,
      [{ taskId: 'task_1' }],
      {
        eraseCopies: async () => {
          tries += 1;
          // An activity may fail for good only by a non-retryable failure.
          if (tries === 2)
            throw ApplicationFailure.nonRetryable('MongoServerError 11000; the log has the whole error.');
        },
      },
      async (handle) => {
        while (!shown.at(-1)?.includes('requests')) shown.push(await detailsOf(handle));
        await handle.result().catch(() => undefined);
        shown.push(await detailsOf(handle));
      },
    ).catch(() => undefined);
    const [waiting, failed] = [shown.at(-2)!, shown.at(-1)!];
    expect(waiting.split('\n')[0]).toBe('running: requests that began before the removal');
    expect(waiting).toMatch(/\| until \| 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ \|/);
    expect(waiting).toContain('| failed last | nothing |');
    // A timer cannot be retried, so the command is not offered.
    expect(waiting).not.toContain('ops retry');
    expect(waiting).toMatch(/ops show story-[^]*to stop it: Nothing does, since it removes what a person has deleted/);
    expect(failed).toContain('delete copies in notifications and stored replies: ');
    expect(failed).toContain('MongoServerError 11000');
    expect(failed).toContain('| waits for | nothing |');
  });
});

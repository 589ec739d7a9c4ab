/**
 * Tests the workflows of deletions: copies are deleted at once, and again when everything that was in flight has ended.
 */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { eraseSource } from '../../../workflows/knowledge/source.ts';
import { eraseTask } from '../../../workflows/tasks/taskerasure.ts';

const { tell, now } = stories();

describe('eraseTask', () => {
  it('the workflow eraseTask deletes copies at once, and once more when no step of an execution can still be running', async () => {
    const begun = await now();
    const erased: [string, number][] = [];
    const { calls } = await tell(eraseTask, [{ taskId: 'task_1' }], {
      eraseCopies: async ({ ids }) => void erased.push([ids.join(), Math.round(((await now()) - begun) / 60_000)]),
    });
    expect(calls).toEqual(['eraseCopies', 'eraseCopies']);
    expect(erased).toEqual([
      ['task_1', 0],
      ['task_1', 10],
    ]);
  });
});

describe('eraseSource', () => {
  it.each([
    ['doc_1', ['eraseSource', 'eraseCopies']],
    ['page_1', ['eraseSource']],
  ])(
    'deleting the source %s runs the activities %j: only a document has copies in stored replies, which are erased too',
    async (sourceId, expected) => {
      const nothing = async () => undefined;
      const ref = { orgId: 'org_1', sourceId };
      const { calls } = await tell(eraseSource, [ref], { eraseSource: nothing, eraseCopies: nothing });
      expect(calls).toEqual(expected);
    },
  );
});

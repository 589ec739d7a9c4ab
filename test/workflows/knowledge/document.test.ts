/** Tests the workflow of a document, with stub activities and skipped time. */
import { describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { stories } from '../story.ts';
import { detailsOf } from '../storyserver.ts';
import { searchAttributes } from '../../../workflows/attributes.ts';
import type { ReadOutcome } from '../../../activities/knowledge/document.ts';
import { processDocument, type DocumentRef } from '../../../workflows/knowledge/document.ts';
import { eraseSource, retagSource } from '../../../workflows/knowledge/source.ts';

const ref: DocumentRef = { orgId: 'org_1', docId: 'doc_1', generation: 1 };
const { tell } = stories();

describe('processDocument', () => {
  it('the document workflow reads the document, then indexes it', async () => {
    const { calls, result } = await tell(processDocument, [ref], {
      readDocument: async () => 'read',
      indexDocument: async () => 'indexed',
    });
    expect([calls, result]).toEqual([['readDocument', 'indexDocument'], 'indexed']);
  });

  it.each(['indexed', 'gone'] as const)(
    'the document workflow skips the step of indexing when the step of reading ends as “%s”',
    async (outcome) => {
      const { calls, result } = await tell(processDocument, [ref], {
        readDocument: async () => outcome,
        indexDocument: async () => 'indexed',
      });
      expect([calls, result]).toEqual([['readDocument'], outcome]);
    },
  );

  it.each([
    ['embeds a small document before it is indexed', false, ['readDocument', 'embedDocument']],
    [
      'indexes a small document without vectors when the models are unavailable',
      true,
      ['readDocument', 'embedDocument', 'indexDocument'],
    ],
  ])('the document workflow %s', async (_, fails, expected) => {
    const { calls, result } = await tell(processDocument, [ref], {
      readDocument: async () => 'embed',
      embedDocument: async () => {
        if (fails) throw new Error('the models are away');
        return 'indexed';
      },
      indexDocument: async () => 'indexed',
    });
    expect([calls, result]).toEqual([expected, 'indexed']);
  });

  it('the document workflow reads a document once more when the first reading ends as “crowded”, then indexes it', async () => {
    const outcomes: ReadOutcome[] = ['crowded', 'read'];
    const { calls, result } = await tell(processDocument, [ref], {
      readDocument: async () => outcomes.shift()!,
      indexDocument: async () => 'indexed',
    });
    expect([calls, result]).toEqual([['readDocument', 'readDocument', 'indexDocument'], 'indexed']);
  });

  it('the document workflow reads a document only once when it was stored behind others of its organization, then indexes it', async () => {
    const { calls, result } = await tell(processDocument, [{ ...ref, crowded: true }], {
      readDocument: async () => 'read',
      indexDocument: async () => 'indexed',
    });
    expect([calls, result]).toEqual([['readDocument', 'indexDocument'], 'indexed']);
  });

  it('the document workflow shows operators the status and reason of a failed document, and writes no status for an indexed one', async () => {
    const story = async (outcome: 'indexed' | { failed: string }) => {
      const shown: { status?: unknown; details?: string; upserts?: number } = {};
      const { result } = await tell(processDocument, [ref], { readDocument: async () => outcome }, async (handle) => {
        await handle.result();
        shown.status = (await handle.describe()).typedSearchAttributes.get(searchAttributes.status);
        shown.details = await detailsOf(handle);
        const { events } = await handle.fetchHistory();
        shown.upserts =
          events?.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes != null).length ?? 0;
      });
      return { result, ...shown };
    };
    const reason = 'The file is protected by a password.';
    const failed = await story({ failed: reason });
    expect(failed).toMatchObject({ result: 'failed', status: 'failed' });
    expect(failed.details).toMatch(`failed: ${reason}\n`);
    expect(failed.details).toContain(`| failed last | ${reason} |`);
    expect(await story('indexed')).toMatchObject({ result: 'indexed', status: undefined, upserts: 0 });
  });

  it('the document workflow ends as gone when the document is deleted before it is indexed', async () => {
    const { result } = await tell(processDocument, [ref], {
      readDocument: async () => 'read',
      indexDocument: async () => 'gone',
    });
    expect(result).toBe('gone');
  });

  it('the document workflow retries both steps through an outage of hours until they succeed', async () => {
    let outage = 120;
    const failing = async () => {
      if (outage-- > 0) throw new Error('MongoDB is away');
    };
    const { calls, result, skippedMs } = await tell(processDocument, [ref], {
      readDocument: async () => (await failing(), 'read'),
      indexDocument: async () => 'indexed',
    });
    expect([calls.length, result]).toEqual([122, 'indexed']);
    expect(skippedMs).toBeGreaterThan(3_600_000);
  });

  it('the document workflow passes the same document and generation to both steps', async () => {
    const seen: unknown[] = [];
    await tell(processDocument, [ref], {
      readDocument: async (given) => (seen.push(given), 'read'),
      indexDocument: async (given) => (seen.push(given), 'indexed'),
    });
    expect(seen).toEqual([ref, ref]);
  });
});

describe.each([
  ['retagSource', retagSource],
  ['eraseSource', eraseSource],
] as const)('the workflow %s', (name, workflow) => {
  it('a workflow that changes or deletes a source retries its activity until it succeeds', async () => {
    let failures = 3;
    const { calls } = await tell(workflow, [{ orgId: 'org_1', sourceId: 'doc_1' }], {
      [name]: async () => {
        if (failures-- > 0) throw ApplicationFailure.create({ message: 'a conflict in the index' });
      },
      eraseCopies: async () => undefined,
    });
    expect(calls.filter((one) => one === name)).toHaveLength(4);
    // `eraseCopies` follows, because stored responses may still describe the document for a while.
    expect(calls.slice(4)).toEqual(name === 'eraseSource' ? ['eraseCopies'] : []);
  });
});

/**
 * Unanswered questions are grouped by their embeddings, with the real models and database, and the embeddings are
 * deleted with the customer.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { modelsIn } from '../kit/database.ts';
import { until } from '../kit/harness.ts';
import type { AgentDeps } from '../../agent/knowledge/deps.ts';
import { askWaiting } from '../../agent/knowledge/waiting.ts';
import { createEmbedding, type Embedding } from '../../clients/embedding/embedding.ts';
import { newId } from '../../models/base/ids.ts';
import { recordCustomerGap } from '../../models/chat/customergap.ts';
import {
  findGroup,
  forgetGaps,
  listGaps,
  listWaitingGaps,
  newGroup,
  recordGap,
  setGapStatus,
  settleGap,
  type Asked,
  type GapGroup,
} from '../../models/knowledge/gap.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { segmentFilter, type SegmentFilter } from '../../models/rules/knowledge/segments.ts';
import { terms } from '../../models/rules/language/words.ts';
import { everyRecord } from '../../models/base/define.ts';

const orgId = newId('org');
let embedding: Embedding;
modelsIn('gapgroups');
beforeAll(async () => {
  embedding = createEmbedding({ obtain: async () => process.env['TEST_EMBEDDING']!, questionMs: 60_000 });
  await until(async () => embedding.state().state === 'ready', 'the models');
});
afterAll(() => embedding.close());

const model = 'embedded-1';
async function missed(question: string, of = model): Promise<Asked> {
  const [vector] = await embedding.local!.sentences([question]);
  const meaning = { model: of, vector: vector! };
  const stems = terms(question).map(({ stem }) => stem);
  const group = (await findGroup(orgId, 'test', meaning)) ?? newGroup(stems, question);
  return {
    question,
    group,
    meaning,
    why: 'nothing_found',
    now: new Date(),
    near: [{ chunk_id: 'doc_1:1:0', score: 0.1 }],
  };
}
const miss = async (question: string, of?: string) => recordGap(orgId, 'test', await missed(question, of));
const groups = async () => (await listGaps(orgId, ['test'], { limit: 100, now: new Date() })).gaps;

describe('unanswered questions', () => {
  it('unanswered questions are grouped by meaning, also across languages, and different questions stay apart', async () => {
    await miss('How do I close my account?');
    await miss('Comment fermer mon compte ?');
    await miss('How do I close my account?');
    await miss('Do you sell umbrellas?');
    const found = await groups();
    expect(found.map(({ count }) => count).toSorted()).toEqual([1, 3]);
    expect(found.find(({ count }) => count === 3)).toMatchObject({
      question: 'How do I close my account?',
      near: [{ chunk_id: 'doc_1:1:0', score: 0.1 }],
    });
  });

  it('a question does not join the group of a question that has since been deleted', async () => {
    const orgOf = newId('org');
    const asked = { ...(await missed('How do I order a cheque book?')), group: 'cheques' };
    await recordGap(orgOf, 'test', asked);
    expect(await findGroup(orgOf, 'test', asked.meaning!)).toBe('cheques');
    await mongoose.connection.collection('gaps').deleteMany({ org_id: orgOf });
    expect(await findGroup(orgOf, 'test', asked.meaning!)).toBeUndefined();
  });

  it('paging through the unanswered questions returns each group once, even groups that were last asked at the same time', async () => {
    const orgOf = newId('org');
    const second = new Date();
    const first = new Date(second.getTime() - 1_000);
    for (const [group, now] of [
      ['a', first],
      ['b', second],
      ['c', second],
      ['d', second],
      ['e', first],
    ] as const) {
      for (const wording of ['one', 'other'])
        await recordGap(orgOf, 'test', { question: `${group} ${wording}`, group, why: 'nothing_found', now });
    }
    const read: string[] = [];
    for (let after: GapGroup | undefined; ;) {
      const { gaps, count } = await listGaps(orgOf, ['test'], { limit: 2, after, now: second });
      expect(count).toBe(5);
      if (gaps.length === 0) break;
      read.push(...gaps.map(({ question }) => question[0]!));
      after = gaps.at(-1);
    }
    expect([read.slice(0, 3).toSorted(), read.slice(3).toSorted()]).toEqual([
      ['b', 'c', 'd'],
      ['a', 'e'],
    ]);
  });

  it('the list of unanswered questions names at most 100 wordings of a group, and resolving one wording resolves the whole group', async () => {
    const orgOf = newId('org');
    const ask = (question: string, group: string) =>
      recordGap(orgOf, 'test', { question, group, why: 'nothing_found', now: new Date() });
    for (let wording = 0; wording < 101; wording += 1) await ask(`Wording ${wording}`, 'often');
    await ask('Another question', 'once');
    const open = async () =>
      (await listGaps(orgOf, ['test'], { limit: 100, status: 'open', now: new Date() })).gaps.toSorted(
        (one, other) => other.count - one.count,
      );
    const [often] = await open();
    expect([often!.count, often!.gap_ids.length]).toEqual([101, 100]);
    expect(await setGapStatus(orgOf, ['live'], often!.gap_ids, 'resolved')).toBe(0);
    expect(await setGapStatus(orgOf, ['test', 'live'], [often!.gap_ids[99]!], 'resolved')).toBe(101);
    expect((await open()).map(({ question }) => question)).toEqual(['Another question']);
  });

  it('unanswered questions are not compared with embeddings of another model', async () => {
    await miss('Wie kann ich mein Konto schließen?', 'embedded-2');
    expect((await groups()).find(({ question }) => question.startsWith('Wie'))?.count).toBe(1);
  });

  it('unanswered questions are deleted, embeddings included, with the only customer who asked them', async () => {
    const [customerId, messageId] = [newId('customer'), newId('message')];
    const gaps = mongoose.connection.collection('gaps');
    await mongoose.connection
      .collection<{ _id: string }>('messages')
      .insertOne({ _id: messageId, org_id: orgId } as { _id: string });
    const question = 'Where is the parcel of Ada Example?';
    await recordCustomerGap(orgId, 'test', await missed(question), { customerId, messageId });
    expect(await gaps.findOne({ question }, everyRecord)).toMatchObject({ vector_model: model, count: 1 });
    await forgetGaps(orgId, customerId);
    expect(await gaps.findOne({ question }, everyRecord)).toBeNull();
  });

  it('the words of an unanswered question do not stay in the group of another customer’s question after the only customer who asked it is deleted', async () => {
    const gaps = mongoose.connection.collection('gaps');
    const orgOf = newId('org');
    const ask = async (asked: Asked, customerId: string) => {
      const messageId = newId('message');
      await mongoose.connection
        .collection<{ _id: string }>('messages')
        .insertOne({ _id: messageId, org_id: orgOf } as { _id: string });
      await recordCustomerGap(orgOf, 'test', asked, { customerId, messageId });
    };
    const [ada, bob] = [newId('customer'), newId('customer')];
    const first = await missed('Does Ada Example own a yellow submarine?');
    await ask(first, ada);
    const group = await findGroup(orgOf, 'test', first.meaning!);
    await ask({ ...first, question: 'Who sells boats?', group: group! }, bob);
    await forgetGaps(orgOf, ada);
    const [other, ...more] = await gaps.find({ org_id: orgOf, mode: 'test' }).toArray();
    expect([other!['question'], more]).toEqual(['Who sells boats?', []]);
    expect(other!['group']).not.toMatch(/yellow|submarin/i);
  });
});

describe('a question that waits for vectors', () => {
  it('a question that was asked before the passages had vectors is asked again in its original segments', async () => {
    const owner = { org_id: newId('org'), mode: 'test' } as const;
    const filters = new Map<string, SegmentFilter | undefined>();
    const deps = {
      search: {
        query: async (_: unknown, { text, filter }: { text: string; filter: SegmentFilter | undefined }) => {
          filters.set(text, filter);
          return { candidates: [], background: [] };
        },
        tiers: async () => [],
      },
      intelligence: {
        read: async ({ body: text }: { body: string }) => ({
          intent: 'question',
          language: 'en',
          searched: text,
          askings: [{ text, readings: [{ text, questions: [text] }], settles: true }],
          context: [],
          degraded: false,
        }),
      },
      embedding: { model: undefined },
      clock: () => new Date(),
    } as unknown as AgentDeps;
    const asked = { 'Where is the vault?': [], 'Where is the desk?': ['business'], 'Where is the door?': undefined };
    for (const [question, segments] of Object.entries(asked)) {
      const waiting = defined({ segments });
      const gap = { question, group: question, why: 'nothing_found', now: new Date(), waiting } as const;
      await recordGap(owner.org_id, owner.mode, gap);
    }
    await askWaiting(deps, owner);
    expect([...filters].toSorted()).toEqual(
      Object.entries(asked)
        .map(([question, segments]) => [question, segmentFilter(segments, false)])
        .toSorted(),
    );
    expect((await listGaps(owner.org_id, [owner.mode], { limit: 9, now: new Date() })).count).toBe(3);
  });
});

describe('a waiting question that is asked again', () => {
  const question = 'Where is the safe?';
  const ask = (orgOf: string, segments: string[] | undefined) => {
    const gap = { question, group: 'safe', why: 'nothing_found', now: new Date() } as const;
    return recordGap(orgOf, 'test', { ...gap, waiting: defined({ segments }) });
  };
  const waitingIn = (orgOf: string) => listWaitingGaps(orgOf, 'test', 9);
  const shownIn = async (orgOf: string) =>
    (await listGaps(orgOf, ['test'], { limit: 9, now: new Date() })).gaps.map(({ count }) => count);

  it.each<[string, string[] | undefined, string[] | undefined]>([
    ['the same segments', ['business'], ['business']],
    ['no segments, as before', undefined, undefined],
  ])('a waiting question that is asked again still waits when it named %s', async (_, first, second) => {
    const orgOf = newId('org');
    for (const segments of [first, second]) await ask(orgOf, segments);
    expect([(await waitingIn(orgOf)).length, await shownIn(orgOf)]).toEqual([1, []]);
  });

  it.each<[string, string[] | undefined, string[] | undefined]>([
    ['other segments', ['business'], ['personal']],
    ['segments for the first time', undefined, ['business']],
    ['no segments any more', ['business'], undefined],
  ])('a waiting question that is asked again is shown with both askers when it named %s', async (_, first, second) => {
    const orgOf = newId('org');
    await ask(orgOf, first);
    const [read] = await waitingIn(orgOf);
    await ask(orgOf, second);
    // The question of the first asker was answered meanwhile.
    await settleGap(orgOf, read!, true);
    expect([(await waitingIn(orgOf)).length, await shownIn(orgOf)]).toEqual([0, [2]]);
  });

  it('a resolved question that is asked again waits, and is deleted when it is answered', async () => {
    const orgOf = newId('org');
    const gap = { question, group: 'safe', why: 'nothing_found', now: new Date() } as const;
    await recordGap(orgOf, 'test', gap);
    const { gaps } = await listGaps(orgOf, ['test'], { limit: 9, now: new Date() });
    await setGapStatus(orgOf, ['test'], gaps[0]!.gap_ids, 'resolved');
    // The article that resolves the question is still being read.
    await ask(orgOf, ['business']);
    const [read, ...more] = await waitingIn(orgOf);
    expect([read?.waiting, more, await shownIn(orgOf)]).toEqual([{ segments: ['business'] }, [], []]);
    await settleGap(orgOf, read!, true);
    expect([await waitingIn(orgOf), await shownIn(orgOf)]).toEqual([[], []]);
  });

  it('an answer in the segments of a deleted question does not delete the question that was asked anew in others', async () => {
    const orgOf = newId('org');
    await ask(orgOf, ['business']);
    const [read] = await waitingIn(orgOf);
    await mongoose.connection.collection('gaps').deleteMany({ org_id: orgOf });
    await ask(orgOf, ['personal']);
    await settleGap(orgOf, read!, true);
    expect(await waitingIn(orgOf)).toMatchObject([{ waiting: { segments: ['personal'] } }]);
  });
});

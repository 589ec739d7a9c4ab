/**
 * One plain run of each kind of workflow, with invented people and addresses: `npm run histories` records them, and
 * workflows/ must be able to replay the records.
 * A kind without a run does not compile.
 */
import type { WorkflowHandle } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { ask, world } from './interviews/interviewworld.ts';
import { detailsOf } from './storyserver.ts';
import { until } from '../kit/harness.ts';
import type * as workflows from '../../workflows/index.ts';
import { attend } from '../../workflows/chat/conversation.ts';
import { decided } from '../../workflows/chat/toolcall.ts';
import { removeNow } from '../../workflows/interviews/meeting.ts';

export type Kind = keyof typeof workflows;

/** `activities` is created anew for each run. `meanwhile` runs while the workflow runs. */
type PlainStory = {
  ref?: object;
  activities: (handle: () => WorkflowHandle) => Record<string, (input: never) => Promise<unknown>>;
  meanwhile?: (handle: WorkflowHandle) => Promise<unknown>;
};

const org = { orgId: 'org_1' };
const nothing = async (): Promise<void> => undefined;
/** Returns these outcomes one by one. */
const inTurn =
  (...outcomes: unknown[]) =>
  async (): Promise<unknown> =>
    outcomes.shift();
/** Resolves when the workflow waits. */
const itWaits = (handle: WorkflowHandle): Promise<boolean> =>
  until(
    async () => (await handle.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes != null),
    'the workflow to wait',
  );
/** Sends a signal to the workflow when it waits. */
const once =
  (signal: SignalDefinition) =>
  async (handle: WorkflowHandle): Promise<void> => {
    await itWaits(handle);
    await handle.signal(signal);
  };
const about = { ...org, tool: 'refund', tier: 'customer_confirm' };
const page = {
  url: 'https://a.example/',
  tally: { found: 2, waiting: 0, indexed: 2, unchanged: 0, skipped: 0, failed: 0 },
};
const waiting = {
  kind: 'waiting',
  waitMs: 60_000,
  slow: false,
  shown: {
    deliveryId: 'dlv_1',
    kind: 'webhook',
    event: 'ticket.created',
    attempt: 1,
    attempts: 8,
    nextAt: '2026-01-01T00:01:00.000Z',
    status: 503,
  },
};

export const plainStories: Readonly<Record<Kind, PlainStory>> = {
  announce: { ref: { ...org, taskId: 'task_1' }, activities: () => ({ announceTask: nothing }) },
  arrangeRecrawl: { ref: { ...org, scheduleId: 'sch_1' }, activities: () => ({ arrangeRecrawl: nothing }) },
  beginToolGrant: {
    ref: { ...org, grantId: 'grant_1' },
    activities: () => ({ prepareSignIn: inTurn({ kind: 'person_needed' }) }),
  },
  conversation: {
    ref: { ...org, convId: 'conv_1' },
    activities: () => ({
      attendTo: inTurn({ kind: 'waiting', for: 'call_1', withinMs: 600_000 }, { kind: 'done' }, { kind: 'done' }),
    }),
    meanwhile: once(attend),
  },
  copyTestToLive: { ref: { ...org, copyId: 'copy_1' }, activities: () => ({ copyToLive: nothing }) },
  crawlSite: {
    ref: { ...org, crawlId: 'crawl_1' },
    activities: () => ({
      crawlBatch: inTurn(
        { ...page, state: 'waiting', message: 'robots.txt cannot be read.' },
        { ...page, state: 'more', waitMs: 30_000 },
        { ...page, state: 'done' },
      ),
      finishCrawl: inTurn('completed'),
    }),
  },
  discoverTools: { ref: org, activities: () => ({ listServerTools: inTurn({ kind: 'done' }) }) },
  embedPassages: {
    ref: { ...org, mode: 'test' },
    activities: () => ({ embedSome: inTurn({ left: true }, { left: false }) }),
  },
  eraseCustomer: {
    ref: { ...org, customerId: 'cus_1' },
    activities: () => ({ eraseCustomer: nothing, verifyErasure: nothing }),
  },
  eraseSource: {
    ref: { ...org, sourceId: 'doc_1' },
    activities: () => ({ eraseSource: nothing, eraseCopies: nothing }),
  },
  eraseTask: { ref: { taskId: 'task_1' }, activities: () => ({ eraseCopies: nothing }) },
  finishToolGrant: {
    ref: { ...org, grantId: 'grant_1' },
    activities: () => ({ finishSignIn: inTurn({ kind: 'done' }) }),
  },
  inbound: { ref: org, activities: () => ({ processInbound: inTurn({ againInMs: 60_000 }, {}) }) },
  interview: {
    ref: { ...org, interviewId: 'int_1' },
    activities: () => world().activities,
    async meanwhile(handle) {
      await ask(handle, 'start');
      await until(async () => /Bot: room/.test(await detailsOf(handle)), 'the bot');
      await ask(handle, 'join');
      await ask(handle, 'end');
      await ask(handle, 'score');
    },
  },
  maintainStores: {
    activities: (handle) => {
      let passes = 0;
      return {
        repairIndexes: nothing,
        // The workflow is cancelled after three passes. Otherwise it would run for an hour, and its history would only
        // hold more passes.
        optimizeIndexes: async () => void ((passes += 1) === 3 && (await handle().cancel())),
        dropOrphanedBytes: nothing,
      };
    },
  },
  mailReply: {
    ref: { ...org, convId: 'conv_1' },
    activities: () => ({ mailUnsent: inTurn({ waitMs: 30_000 }, {}) }),
  },
  meeting: {
    ref: { owner: 'usr_1', meetingId: 'mtg_1', expiresAt: '2030-01-01T00:00:00.000Z' },
    activities: () => ({ removeMeeting: nothing, removeMeetingTasks: nothing, forgetMeeting: nothing }),
    meanwhile: once(removeNow),
  },
  memberDeparted: {
    ref: { ...org, userId: 'usr_1', leftAt: '2030-01-01T00:00:00.000Z' },
    activities: () => ({ endGrants: nothing, giveUpTasks: nothing }),
  },
  notices: { ref: { ...org, convId: 'conv_1' }, activities: () => ({ tellMembers: nothing }) },
  processDocument: {
    ref: { ...org, docId: 'doc_1', generation: 1 },
    activities: () => ({ readDocument: inTurn('crowded', 'read'), indexDocument: inTurn('indexed') }),
  },
  pruneKnowledge: { ref: { ...org, pruningId: 'prn_1' }, activities: () => ({ pruneKnowledge: nothing }) },
  recrawlSite: {
    ref: { ...org, scheduleId: 'sch_1' },
    activities: () => ({
      beginRecrawl: inTurn({ state: 'begun', crawlId: 'crawl_2', mode: 'test' }),
      crawlBatch: inTurn({ ...page, state: 'done' }),
      finishCrawl: inTurn('completed'),
    }),
  },
  releaseCredential: { ref: { ...org, releaseId: 'rel_1' }, activities: () => ({ giveBack: nothing }) },
  retagSource: { ref: { ...org, sourceId: 'doc_1' }, activities: () => ({ retagSource: nothing }) },
  sendLine: { ref: { ...org, line: 'line_1' }, activities: () => ({ sendSome: inTurn(waiting, { kind: 'done' }) }) },
  taskExecution: {
    ref: { ...org, taskId: 'task_1', executionId: 'exe_1' },
    activities: () => ({
      listSteps: inTurn(['linear']),
      advanceStep: inTurn({ kind: 'waiting', waitMs: 60_000, attempt: 1, attempts: 8 }, { kind: 'done' }),
      endExecution: nothing,
    }),
  },
  taskIssues: {
    ref: { ...org, taskId: 'task_1' },
    activities: () => ({ carryToIssues: inTurn({ again: true, error: 'linear' }, { again: false }) }),
  },
  ticketEvents: {
    ref: { ...org, convId: 'conv_1', ticketId: 'tkt_1' },
    activities: () => ({
      sendEvents: inTurn({
        lines: [
          { line: 'line_1', left: waiting },
          { line: 'line_2', left: { kind: 'more', slow: true } },
        ],
      }),
      sendSome: async () => ({ kind: 'done' }),
    }),
  },
  toolCall: {
    ref: { ...org, callId: 'call_1' },
    activities: () => ({
      advanceCall: inTurn(
        { about, kind: 'waiting', awaited: 'customer', withinMs: 600_000 },
        { about, kind: 'calling' },
        { about, kind: 'ended', outcome: 'ok' },
      ),
    }),
    meanwhile: once(decided),
  },
  tryIntegration: {
    ref: { ...org, provider: 'linear', what: 'connect', candidateId: 'cand_1' },
    activities: () => ({ tryConnection: inTurn('said') }),
  },
};

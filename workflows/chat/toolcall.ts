/**
 * Runs one tool call. The workflow waits for approval and for the rate limit, so that no activity has to. The call's
 * content is in MongoDB. Operators see the tool and what the call waits for, but not its arguments.
 */
import { condition, defineSignal, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { show } from '../base/board.ts';
import { inTask, inTaskFirst } from '../base/intask.ts';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { CallStep, ToolCallActivities } from '../../activities/chat/toolcall.ts';
import { decidedSignal } from '../../models/rules/mcp/work.ts';

export type ToolCallRef = { orgId: string; callId: string };

const { advanceCall } = proxyActivities<ToolCallActivities>({
  ...throughOutages,
  // A call may take two minutes. The list of tools that is read before the call may take a quarter of a minute.
  startToCloseTimeout: '5 minutes',
  // A customer waits, so the death of a worker is noticed sooner than usual.
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

const local = proxyLocalActivities<ToolCallActivities>(inTask);

/** The signal that a decision was stored or the server was disconnected. */
export const decided = defineSignal(decidedSignal);

export async function toolCall(ref: ToolCallRef): Promise<string> {
  const news = newsOf(decided);
  for (;;) {
    const seen = news();
    const step = await inTaskFirst(
      () => local.advanceCall(ref),
      ({ kind }) => kind === 'calling',
      () => advanceCall(ref),
    );
    if (step.kind === 'ended') {
      showStep(ref, step, step.outcome);
      return step.outcome;
    }
    // This line only narrows the type of `step`. When the local activity returns `calling`, `inTaskFirst` returns the
    // result of the normal activity, which is never `calling`.
    if (step.kind === 'calling') continue;
    showStep(ref, step, step.kind === 'waiting' ? `waiting_${step.awaited}` : 'held_back');
    // A decision is stored before its signal is sent, so the next step finds it. If no signal arrives in time, that
    // step ends the call as expired.
    const summary =
      step.kind === 'waiting' ? `${awaitedSaid[step.awaited]}: ${step.about.tool}` : 'the rate limit of the tool';
    await condition(() => news() !== seen, step.withinMs, { summary });
  }
}

const decides = ({ orgId, callId }: ToolCallRef): string =>
  `Any member, not only an admin, approves it: on the page under Tools, or by \`POST /v1/support/mcp/orgs/${orgId}/approvals/${callId}/approve\` (or \`/deny\`).`;

function showStep(ref: ToolCallRef, { about }: CallStep, status: string): void {
  show({
    status,
    ...(status === 'waiting_member' ? { can: [decides(ref)] } : {}),
    more: `| tool | tier |\n| --- | --- |\n| ${about.tool} | ${about.tier} |`,
  });
}

const awaitedSaid = {
  customer: 'the customer to confirm',
  step_up: 'the customer to prove who they are',
  member: 'a member to approve',
  input: 'the customer to answer the tool',
} as const;

/** The result of a turn's use of tools. Types only. */
import type { WantedCall, WrittenBy } from '../../intelligence/intelligence.ts';
import type { EscalationReason } from '../../models/rules/chat/conversation.ts';

export type Told = {
  body: string;
  escalate?: EscalationReason;
  /** Set when the text reports a successful call: then the customer was served, and misses are counted anew. */
  counts?: 'answered';
  /** What wrote the text; absent for a fixed sentence of the agent and for the tool's own text. */
  by?: WrittenBy;
};
/**
 * `call`: a tool to call; the turn continues when the call has ended. `told`: the complete answer. Undefined: the
 * documents answer.
 */
export type ToolStep = { call: WantedCall } | { told: Told } | undefined;

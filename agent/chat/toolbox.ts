/** What a turn makes of tools. Types only. */
import type { WantedCall, WrittenBy } from '../../intelligence/intelligence.ts';
import type { EscalationReason } from '../../models/rules/chat/conversation.ts';

export type Told = {
  body: string;
  escalate?: EscalationReason;
  /** What wrote it, unless it is the agent's own sentence or the tool's text. */
  by?: WrittenBy;
};
/** `call`: the turn goes on when it has ended. `told`: the whole answer. Undefined: the documents answer. */
export type ToolStep = { call: WantedCall } | { told: Told } | undefined;

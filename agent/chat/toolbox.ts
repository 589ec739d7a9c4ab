/** What the agent has of tools in a turn, and what it may want of them. Types only. */
import type { Written } from './record.ts';
import type { Asked } from './turn.ts';
import type { EscalationReason } from '../../models/rules/chat/conversation.ts';
import type { Language } from '../../models/rules/language/language.ts';
import type { ToolResult } from '../../models/rules/mcp/result.ts';
import type { ApprovedTool, Outcome, RiskTier } from '../../models/rules/mcp/tool.ts';

/** A call that was made for this message, and has ended. */
export type CallMade = {
  tool_name: string;
  risk_tier: RiskTier;
  arguments: Readonly<Record<string, unknown>>;
  outcome: Outcome;
  unknown: boolean;
  /** Whether a member was asked. */
  byMember: boolean;
  result?: ToolResult | undefined;
};
export type Toolbox = {
  offered: readonly ApprovedTool[];
  /** The customer's own, if a backend vouches for it. */
  email: string | undefined;
  made: readonly CallMade[];
};
export type WantedCall = { tool: ApprovedTool; arguments: Record<string, unknown> };
export type Told = {
  body: string;
  escalate?: EscalationReason;
  /** What wrote it, unless it is the agent's own sentence or the tool's text. */
  by?: Written['by'];
};
/** `call`: the turn goes on when it has ended. `told`: the whole answer. Undefined: the documents answer. */
export type ToolStep = { call: WantedCall } | { told: Told } | undefined;
/** What a chooser finds. `missing`: the call is meant, and these required arguments were not said. */
export type Choice = { call: WantedCall } | { missing: readonly string[] } | { told: Told } | undefined;

/** `request`: what the customer wants done, where this message answers the agent's question back. */
export type Choosing = Asked & { request: readonly string[]; language: Language };

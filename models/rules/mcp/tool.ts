/** What is known of a tool of an organization's MCP server: the words of the specification, and the bounds of each field. */
import type { Environment, Mode } from '../access/keys.ts';

/** How much a call risks, the least first. */
export const riskTiers = [
  'read_public',
  'read_private',
  'safe_write',
  'customer_confirm',
  'step_up',
  'admin_approve',
  'human_only',
] as const;
export type RiskTier = (typeof riskTiers)[number];

/** Whom a tool may be called for. */
export const authScopes = ['public', 'verified_visitor', 'verified_customer'] as const;
export type AuthScope = (typeof authScopes)[number];

export const toolKinds = ['action', 'resource'] as const;
export type ToolKind = (typeof toolKinds)[number];

/** Where a customer speaks with the agent. */
export const channels = ['chat', 'email'] as const;
export type Channel = (typeof channels)[number];

/** A JSON Schema of the version that it names in `$schema`, else 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as its server lists it. Everything in it was written by the server's owner. */
export type ListedTool = {
  name: string;
  description: string;
  input_schema: JsonSchema;
  output_schema?: JsonSchema | undefined;
};

/**
 * What was found about a tool's schemas. `problem`: why it cannot be called. `notes`: what of them is not held against values.
 * Sentences for members.
 */
export type Findings = { problem?: string | undefined; notes?: string[] | undefined };
/** A tool as its server lists it, and what was found about it. */
export type ExaminedTool = ListedTool & Findings;

/** A tool as a member has approved it. `source_name` is the server's name for it, `tool_name` the agent's. */
export type ApprovedTool = Findings & {
  source_name: string;
  tool_name: string;
  description: string;
  input_schema: JsonSchema;
  output_schema?: JsonSchema;
  kind: ToolKind;
  risk_tier: RiskTier;
  auth_scope: AuthScope;
  enabled: boolean;
  timeout_ms: number;
  allowed_channels: Channel[];
  /** Calls a minute for the organization; absent: only the server's own limit counts. */
  rate_limit_per_min?: number;
  /** SHA-256 of `pinText`: what was approved. */
  pin: string;
  /** Its server offered something else under its name; it is not called until somebody approves it again. */
  suspended?: boolean;
};

/** Whether a tool may be called at all. */
export const isUsable = ({ enabled, suspended = false, problem }: ApprovedTool): boolean =>
  enabled && !suspended && problem === undefined;

/** The tools of a server that may be called on this channel. */
export const usableTools = (tools: readonly ApprovedTool[], channel: Channel): ApprovedTool[] =>
  tools.filter((tool) => isUsable(tool) && tool.allowed_channels.includes(channel));

/** Whether a server's tools are for conversations of this mode: those of a sandbox are for test conversations only. */
export const servesMode = (
  { enabled, environment }: { enabled: boolean; environment?: Environment | undefined },
  mode: Mode,
): boolean => enabled && !(environment === 'sandbox' && mode === 'live');

/** Names that models take as those of functions. */
export const toolNamePattern = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
export const maxTools = 100;
export const maxDescriptionLength = 4_000;
/** Of a tool's schemas, in characters of JSON, and how deep they may be nested. */
export const maxSchemaLength = 64_000;
export const maxSchemaDepth = 32;
/** Of a call's arguments, in characters of JSON. */
export const maxArgumentsLength = 16_000;
export const timeoutBounds = { min: 100, max: 120_000, default: 30_000 } as const;
/** Calls and discoveries a minute. */
export const rateBounds = { min: 1, max: 10_000, default: 60 } as const;
/** Calls for one message of a customer. */
export const maxCallsPerTurn = 8;

const readingTiers: readonly RiskTier[] = ['read_public', 'read_private'];

/** Whether a call changes nothing, so that it may be sent again when its outcome is not known. */
export const isRead = ({ risk_tier }: Pick<ApprovedTool, 'risk_tier'>): boolean => readingTiers.includes(risk_tier);

/** What became of a call, or of the wish to make it. */
export const outcomes = [
  'ok',
  'error',
  'timeout',
  'denied',
  'declined',
  'expired',
  'suspended',
  'handed_off',
  'rate_limited',
] as const;
export type Outcome = (typeof outcomes)[number];

/** A name for the agent, made of the server's, that none of `taken` has. */
export function suggestedName(sourceName: string, taken: ReadonlySet<string>): string {
  const words = sourceName
    .normalize('NFKD')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_+$/g, '');
  const base = (words === '' ? 'tool' : words).slice(0, 60);
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) if (!taken.has(`${base}_${number}`)) return `${base}_${number}`;
}

/** How a customer reads a tool's name: `cancel_order` is "Cancel order". */
export function titleOf(toolName: string): string {
  const words = toolName
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The tools of an organization's MCP server: tiers, scopes, limits and names. */
import type { Environment, Mode } from '../access/keys.ts';

/** The risk of a call, lowest first. */
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

/** Which customers a tool may be called for. */
export const authScopes = ['public', 'verified_visitor', 'verified_customer'] as const;
export type AuthScope = (typeof authScopes)[number];

export const toolKinds = ['action', 'resource'] as const;
export type ToolKind = (typeof toolKinds)[number];

/** The channels on which customers talk to the agent. */
export const channels = ['chat', 'email'] as const;
export type Channel = (typeof channels)[number];

/** A JSON Schema of the version in its `$schema`, by default 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as its server lists it. The server's owner wrote these texts and schemas, so they are not trusted. */
export type ListedTool = {
  name: string;
  description: string;
  input_schema: JsonSchema;
  output_schema?: JsonSchema | undefined;
};

/**
 * The result of examining a tool's schemas, in sentences for members. `problem`: why the tool cannot be called.
 * `notes`: parts of the schemas that are not enforced.
 */
export type Findings = { problem?: string | undefined; notes?: string[] | undefined };
export type ExaminedTool = ListedTool & Findings;

/**
 * A tool that a member has approved. `source_name` is its name on the server, `tool_name` the name that the agent uses.
 */
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
  /** Maximum calls a minute for the organization; when absent, only the server's limit applies. */
  rate_limit_per_min?: number;
  /** SHA-256 of `pinText`, which identifies the approved definition. */
  pin: string;
  /** True when the server changed the definition; the tool is not called until a member approves it again. */
  suspended?: boolean;
};

export const isUsable = ({ enabled, suspended = false, problem }: ApprovedTool): boolean =>
  enabled && !suspended && problem === undefined;

export const usableTools = (tools: readonly ApprovedTool[], channel: Channel): ApprovedTool[] =>
  tools.filter((tool) => isUsable(tool) && tool.allowed_channels.includes(channel));

/**
 * Whether a server's tools may be used in conversations of this mode. Tools of a sandbox server may be used only in
 * test conversations.
 */
export const servesMode = (
  { enabled, environment }: { enabled: boolean; environment?: Environment | undefined },
  mode: Mode,
): boolean => enabled && !(environment === 'sandbox' && mode === 'live');

/** The function names that language models accept. */
export const toolNamePattern = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
export const maxTools = 100;
export const maxDescriptionLength = 4_000;
/** Limits of a tool's schemas: characters of JSON, nesting depth, and the number of objects and lists. */
export const maxSchemaLength = 64_000;
export const maxSchemaDepth = 32;
export const maxSchemaParts = 1_000;
export const timeoutBounds = { min: 100, max: 120_000, default: 30_000 } as const;
/** The bounds of a rate limit, in calls a minute. A discovery counts as a call against the server's limit. */
export const rateBounds = { min: 1, max: 10_000, default: 60 } as const;
/** The maximum number of tool calls for one message of a customer. */
export const maxCallsPerTurn = 8;

const readingTiers: readonly RiskTier[] = ['read_public', 'read_private'];

/** Whether a call changes nothing, so that it may be retried when its outcome is unknown. */
export const isRead = ({ risk_tier }: Pick<ApprovedTool, 'risk_tier'>): boolean => readingTiers.includes(risk_tier);

/** The outcome of a call, or of a requested call that was never sent. */
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

/**
 * A tool name for the agent, derived from the name that the tool server gives the tool (`sourceName`), and different
 * from all names in `taken`.
 */
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

/** The name of a tool as customers see it: `cancel_order` becomes "Cancel order". */
export function titleOf(toolName: string): string {
  const words = toolName
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

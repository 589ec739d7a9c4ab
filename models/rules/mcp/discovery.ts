/**
 * Compares the tools that a server lists now with the tools that members approved. The hash of `pinText` (the pin)
 * identifies an approved definition; the differences, field by field, help a member to decide whether to approve a
 * changed tool.
 */
import { canonicalJson } from './canonical.ts';
import {
  suggestedName,
  type ApprovedTool,
  type ExaminedTool,
  type Findings,
  type JsonSchema,
  type ListedTool,
} from './tool.ts';
import { defined } from '../base/defined.ts';

/** The text that is hashed into a tool's pin: everything a server could change to alter the meaning of a call. */
export const pinText = ({ name, description, input_schema, output_schema }: ListedTool): string =>
  canonicalJson({ name, description, input_schema, output_schema: output_schema ?? null });

/** An approved tool in the form in which its server lists tools, for comparison. */
export const listedOf = (tool: Omit<ApprovedTool, 'pin'>): ListedTool => ({
  name: tool.source_name,
  description: tool.description,
  input_schema: tool.input_schema,
  output_schema: tool.output_schema,
});

/** `field` is the path of the changed field: `description`, `input_schema.properties.amount.maximum`. */
export type Difference = { field: string; change: 'added' | 'removed' | 'changed'; before?: unknown; after?: unknown };

/** The maximum number of differences shown for one tool; a member who wants to see more compares the whole schemas. */
const maxDifferences = 50;

export function differences(before: ListedTool, after: ListedTool): Difference[] {
  const all: Difference[] = [];
  if (before.description !== after.description)
    all.push({ field: 'description', change: 'changed', before: before.description, after: after.description });
  compare('input_schema', before.input_schema, after.input_schema, all);
  compare('output_schema', before.output_schema, after.output_schema, all);
  return all.slice(0, maxDifferences);
}

function compare(field: string, before: unknown, after: unknown, all: Difference[]): void {
  if (canonicalJson(before) === canonicalJson(after)) return;
  if (before === undefined) all.push({ field, change: 'added', after });
  else if (after === undefined) all.push({ field, change: 'removed', before });
  else if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    for (const name of names) compare(`${field}.${name}`, before[name], after[name], all);
  } else all.push({ field, change: 'changed', before, after });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export type DiscoveryStatus = 'approved' | 'new' | 'changed' | 'removed';
export type DiscoveredTool = Findings & {
  source_name: string;
  description: string;
  input_schema: JsonSchema;
  output_schema?: JsonSchema | undefined;
  suggested_tool_name: string;
  status: DiscoveryStatus;
  changed_since_approval: boolean;
  diff?: Difference[];
};

/**
 * The tools that the server lists, followed by the approved tools that the server no longer lists. Listing a tool does
 * not approve it. `pinOf` computes the pin of a listed tool.
 */
export function discovered(
  approved: readonly ApprovedTool[],
  listed: readonly ExaminedTool[],
  pinOf: (tool: ListedTool) => string,
): DiscoveredTool[] {
  const bySource = new Map(approved.map((tool) => [tool.source_name, tool]));
  const taken = new Set(approved.map(({ tool_name }) => tool_name));
  const now = listed.map((tool): DiscoveredTool => {
    const standing = bySource.get(tool.name);
    const name = standing?.tool_name ?? suggestedName(tool.name, taken);
    taken.add(name);
    const common = { ...described(tool), suggested_tool_name: name };
    if (!standing) return { ...common, status: 'new', changed_since_approval: false };
    if (standing.pin === pinOf(tool) && !standing.suspended)
      return { ...common, status: 'approved', changed_since_approval: false };
    return {
      ...common,
      status: 'changed',
      changed_since_approval: true,
      diff: differences(listedOf(standing), tool),
    };
  });
  const names = new Set(listed.map(({ name }) => name));
  const gone = approved
    .filter(({ source_name }) => !names.has(source_name))
    .map((tool): DiscoveredTool => ({
      ...described({ ...listedOf(tool), ...findingsOf(tool) }),
      suggested_tool_name: tool.tool_name,
      status: 'removed',
      changed_since_approval: true,
    }));
  return [...now, ...gone];
}

const described = ({ name, description, input_schema, output_schema, ...found }: ExaminedTool) => ({
  source_name: name,
  description,
  input_schema,
  ...defined({ output_schema }),
  ...findingsOf(found),
});

const findingsOf = ({ problem, notes }: Findings): Findings => ({
  ...defined({ problem, notes }),
});

/**
 * The latest list of a tool server's tools. The list enables no tool. A member who approves a tool refers to this list
 * and need not send the schemas.
 */
import { collectionOf, defineModel } from '../base/define.ts';
import { date, number, string } from '../rules/base/fields.ts';
import type { ExaminedTool } from '../rules/mcp/tool.ts';

/** `tools`: JSON text, because MongoDB would read property names with `$` as operators. */
const DiscoveryModel = defineModel('ToolDiscovery', 'tool_discoveries', {
  _id: string,
  connection: number,
  tools: string,
  at: date,
});

export async function keepDiscovery(orgId: string, connection: number, tools: ExaminedTool[], at: Date): Promise<void> {
  await collectionOf(DiscoveryModel).replaceOne(
    { _id: orgId },
    { connection, tools: JSON.stringify(tools), at },
    { upsert: true },
  );
}

/** The tools that this connection's server listed last; undefined when it was not asked yet. */
export async function lastDiscovery(
  orgId: string,
  connection: number,
): Promise<{ tools: ExaminedTool[]; at: Date } | undefined> {
  const found = await collectionOf(DiscoveryModel).findOne({ _id: orgId, connection });
  return found ? { tools: JSON.parse(found.tools) as ExaminedTool[], at: found.at } : undefined;
}

export async function forgetDiscovery(orgId: string): Promise<void> {
  await collectionOf(DiscoveryModel).deleteOne({ _id: orgId });
}

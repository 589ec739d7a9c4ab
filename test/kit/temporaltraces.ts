/** Searches everything that Temporal stores (histories and visibility) for a text. */
import { temporal } from '@temporalio/proto';
import type { Client } from '@temporalio/client';
import { until } from './harness.ts';

type Where = {
  /**
   * Searches the workflows of these organizations or owners. Those of others may be encrypted with a key that the client
   * does not have.
   */
  orgIds: readonly string[];
  began: Date;
};

/**
 * The ids of all open and closed workflows that contain the text in arguments, results, failures, memo or attributes.
 */
export async function temporalTraces(client: Client, text: string, { orgIds, began }: Where): Promise<string[]> {
  const since = `StartTime >= '${began.toISOString()}'`;
  const own = ` AND Organization IN (${orgIds.map((id) => `'${id}'`).join(', ')})`;
  const traces: string[] = [];
  // A workflow appears in lists shortly after its start.
  const listed = await until(async () => {
    const found = [];
    for await (const one of client.workflow.list({ query: since + own })) found.push(one);
    return found.length > 0 && found;
  }, 'workflows to be listed');
  for (const { workflowId, runId, raw } of listed) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const stored = Buffer.from(temporal.api.history.v1.History.encode(history).finish());
    const visible = Buffer.from(temporal.api.workflow.v1.WorkflowExecutionInfo.encode(raw).finish());
    if (stored.includes(text) || visible.includes(text)) traces.push(workflowId);
  }
  return traces;
}

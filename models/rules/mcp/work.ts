/** What is started for tools, by the names that records and workflows share. */

export const toolCallWork = { workflow: 'toolCall', queue: 'tools' } as const;
/** Sent when somebody has decided about a call, or when its server was disconnected. */
export const decidedSignal = 'decided';

const toolCallWorkflowId = (callId: string): string => `tool:${callId}`;

/** A customer waits for what the workflow's task does. */
const taskTimeoutMs = 5_000;

/** `decided`: goes on with a call that waits; without it the call is begun. */
export const callingWork = (orgId: string, callId: string, { decided = false } = {}) => ({
  ...toolCallWork,
  id: toolCallWorkflowId(callId),
  args: [{ orgId, callId }],
  taskTimeoutMs,
  ...(decided ? { signal: decidedSignal } : {}),
});

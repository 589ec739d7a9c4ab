/** What is started for a conversation, by the names that records and workflows share. */

export const conversationWork = { workflow: 'conversation', queue: 'conversations', signal: 'attend' } as const;

/** The workflow is open while somebody writes in the conversation. */
export const conversationWorkflowId = (convId: string): string => `conversation:${convId}`;

/** Has the conversation's workflow look at it; it begins when none is open. */
export const attendingWork = (orgId: string, convId: string) => ({
  ...conversationWork,
  id: conversationWorkflowId(convId),
  args: [{ orgId, convId }],
});

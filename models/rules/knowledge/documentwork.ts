/** The name and the ids of the workflow that processes a document, for code that may not import workflows. Pure. */

export const documentWork = (orgId: string, docId: string) => ({
  workflow: 'processDocument',
  id: `document:${docId}`,
  queue: 'documents',
  args: [{ orgId, docId, generation: 1 }],
});

/** The workflow that processes a document, by its names: for those who may not import workflows. Pure. */

export const documentWork = (orgId: string, docId: string) => ({
  workflow: 'processDocument',
  id: `document:${docId}`,
  queue: 'documents',
  args: [{ orgId, docId, generation: 1 }],
});

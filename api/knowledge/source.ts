/** A field of the replies about documents and about pages. */

/** Since when the source is searchable by embeddings of the current model; null when it is not yet. */
export const embeddedAt = (
  { embedded_by, embedded_at }: { embedded_by?: string; embedded_at?: Date },
  model: string | undefined,
): string | null =>
  model !== undefined && embedded_by === model && embedded_at !== undefined ? embedded_at.toISOString() : null;

/** The field `embedded_at` in replies about documents and pages. */

/** The time since which the source can be found by embeddings of the current model; undefined while it cannot. */
export const embeddedAt = (
  { embedded_by, embedded_at }: { embedded_by?: string; embedded_at?: Date },
  model: string | undefined,
): Date | undefined => (model !== undefined && embedded_by === model ? embedded_at : undefined);

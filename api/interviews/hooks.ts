/**
 * The hooks that the interviews slice calls and later slices implement (docs/architecture.md, "Slices"); api/hooks.ts
 * connects them. Types only.
 */

export type InterviewHooks<Context> = {
  /** Removes what other slices derived from a meeting that a member deletes. */
  meetingRemoved(ctx: Context, meetingId: string, userId: string): Promise<void>;
};

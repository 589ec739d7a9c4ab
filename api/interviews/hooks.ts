/**
 * The hooks that the interviews slice calls and later slices implement, because a slice may not import a later one
 * (docs/architecture.md, "Slices"). api/hooks.ts connects them. Types only.
 */

export type InterviewHooks<Context> = {
  /** Removes what later slices derived from a meeting, such as tasks, when a member deletes the meeting. */
  meetingRemoved(ctx: Context, meetingId: string, userId: string): Promise<void>;
};

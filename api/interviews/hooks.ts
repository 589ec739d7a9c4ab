/**
 * Functions that the slice `interviews` calls and other slices implement, because it may not import those slices
 * (docs/architecture.md, "Slices"). api/hooks.ts connects them.
 */

export type InterviewHooks<Context> = {
  /** Removes what other slices derived from a meeting, such as tasks, when a member deletes the meeting. */
  meetingRemoved(ctx: Context, meetingId: string, userId: string): Promise<void>;
};

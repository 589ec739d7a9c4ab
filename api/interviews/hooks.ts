/** The hooks that meetings call and later slices implement; api/hooks.ts connects them. Types only. */

export type InterviewHooks<Context> = {
  /** Removes what other slices derived from a meeting that a member deletes. */
  meetingRemoved(ctx: Context, meetingId: string, userId: string): Promise<void>;
};

/** What meetings ask of slices that come after them; api/hooks.ts says who does it. Types only. */

export type InterviewHooks<Context> = {
  /** Removes what was made of a meeting that a member deletes. */
  meetingRemoved(ctx: Context, meetingId: string, userId: string): Promise<void>;
};

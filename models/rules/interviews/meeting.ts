import { kept } from '../base/retention.ts';

export const meetingStatuses = ['active', 'completed'] as const;

export const personalities = ['supportive', 'challenger', 'facilitator', 'analyst'] as const;
export const participationLevels = ['low', 'medium', 'high'] as const;

/** How the bot behaves in a meeting. */
export type MeetingSettings = {
  personality: (typeof personalities)[number];
  participation_level: (typeof participationLevels)[number];
  wake_word_enabled: boolean;
  proactive_suggest: boolean;
  /** The IANA name of the time zone in which relative dates in the transcript are meant. */
  timezone: string;
};

export const defaultSettings: MeetingSettings = {
  personality: 'supportive',
  participation_level: 'medium',
  wake_word_enabled: true,
  proactive_suggest: false,
  timezone: 'UTC',
};

/** The retention period of a meeting, in days. */
export const ttlDays = { min: 1, max: 3_650, default: kept.meetings.days } as const;

const dayMs = 86_400_000;
export const expiryOf = (createdAt: Date, days: number): Date => new Date(createdAt.getTime() + days * dayMs);

/** The title of a meeting whose transcript is still empty. */
export const untitled = (startedAt: Date): string => `Meeting of ${startedAt.toISOString().slice(0, 10)}`;

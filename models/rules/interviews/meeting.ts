/**
 * Meetings: their states, the settings of the bot that takes part, how long they are kept, and the bounds of a
 * transcript. Pure.
 */
import { Problem } from '../base/errors.ts';

export const meetingStatuses = ['active', 'completed'] as const;

export const personalities = ['supportive', 'challenger', 'facilitator', 'analyst'] as const;
export const participationLevels = ['low', 'medium', 'high'] as const;

/** How the bot behaves in a meeting. */
export type MeetingSettings = {
  personality: (typeof personalities)[number];
  participation_level: (typeof participationLevels)[number];
  wake_word_enabled: boolean;
  proactive_suggest: boolean;
  /** An IANA name: relative dates in the transcript are meant in this zone. */
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
export const ttlDays = { min: 1, max: 3_650, default: 365 } as const;

const dayMs = 86_400_000;
export const expiryOf = (startedAt: Date, days: number): Date => new Date(startedAt.getTime() + days * dayMs);

/**
 * Copies the given settings without the undefined ones.
 * @throws Problem VALIDATION for a time zone that does not exist.
 */
export function givenSettings(
  given: { readonly [S in keyof MeetingSettings]?: MeetingSettings[S] | undefined },
  path: readonly string[],
): Partial<MeetingSettings> {
  if (given.timezone !== undefined && !isTimeZone(given.timezone)) {
    const message = 'is not a time zone; use a name such as Europe/Berlin, or UTC';
    throw new Problem('VALIDATION', { details: [{ path: [...path, 'timezone'], message }] });
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Whether the name is a known IANA time zone. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The title of a meeting whose transcript is still empty. */
export const untitled = (startedAt: Date): string => `Meeting of ${startedAt.toISOString().slice(0, 10)}`;

/** What is asked of a meeting's summary, whoever makes it. Pure. */

export const summaryModes = ['short', 'long'] as const;
export type SummaryMode = (typeof summaryModes)[number];

export type SummaryText = { summary: string; key_points: string[]; action_items: string[] };

/** A short summary has this many sentences and at most so many words. */
export const shortSentences = { min: 4, max: 6 } as const;
export const shortWords = 120;
export const maxKeyPoints = { short: 5, long: 12 } as const;

/** The requirements of a meeting's summary, which apply with and without a language model. Pure. */

export const summaryModes = ['short', 'long'] as const;
export type SummaryMode = (typeof summaryModes)[number];

export type SummaryText = { summary: string; key_points: string[]; action_items: string[] };

/** The number of sentences of a short summary. */
export const shortSentences = { min: 4, max: 6 } as const;
export const shortWords = 120;
export const maxKeyPoints = { short: 5, long: 12 } as const;

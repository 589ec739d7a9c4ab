/** The hours of a day as a person writes them: `09:00-12:00, 13:00-17:30`. */

export type Span = { from: string; until: string };

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export const writtenSpans = (spans: readonly Span[] = []): string =>
  spans.map(({ from, until }) => `${from}-${until}`).join(', ');

/** Reads times such as `9:00-12:00, 13:00-17:30`. Nothing is checked here: the server reports text that is no time. */
export const readSpans = (text: string): Span[] =>
  text
    .split(',')
    .map((span) => span.trim())
    .filter(Boolean)
    .map((span) => {
      const [from = '', until = ''] = span.split(/\s*[-–]\s*/);
      return { from: from.padStart(5, '0'), until: until.padStart(5, '0') };
    });

/** The name of a weekday in a language. 1 January 2024 was a Monday. */
export const dayName = (day: (typeof weekdays)[number], locale: string): string =>
  new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2024, 0, 1 + weekdays.indexOf(day)),
  );

/**
 * The look of an organization's widget, and its hours. The server sends both before it knows the customer. A missing or
 * invalid part gets its default.
 */
import type { Locale, Texts } from './texts.ts';

export type Look = {
  /** Colours `#rrggbb`. */
  accent: { light: string; dark: string } | undefined;
  agentName: string | undefined;
  greeting: string | undefined;
  /** Questions that can be chosen before anything was written. */
  starters: readonly string[];
  askEmail: 'never' | 'on_escalation' | 'first';
  /** Whether the launcher is hidden, because the team is away or its hours are not known yet. */
  hidden: boolean;
  /** Whether the team is there now; undefined when the team has no hours. */
  open: boolean | undefined;
  /** When the team is back; only while the team is away. */
  back: Date | undefined;
  /** URLs of the organization's logo and of the agent's picture. */
  logo: string | undefined;
  avatar: string | undefined;
};

type Given = Readonly<Record<string, unknown>>;
const recordOf = (value: unknown): Given => (typeof value === 'object' && value !== null ? (value as Given) : {});
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const colour = (value: unknown): string | undefined => /^#[0-9a-f]{6}$/.exec(String(value))?.[0];

/** `base`: the server's URL with a trailing `/`. */
export function readLook(given: unknown, locale: Locale, base: string): Look {
  const look = recordOf(given);
  const accent = recordOf(look['accent']);
  const [light, dark] = [colour(accent['light']), colour(accent['dark'])];
  const { greeting, starters } = recordOf(recordOf(look['greetings'])[locale]);
  const open = typeof look['open'] === 'boolean' ? look['open'] : undefined;
  const back = text(look['next_opening']);
  const url = (path: unknown): string | undefined =>
    text(path) === undefined ? undefined : new URL(String(path).replace(/^\//, ''), base).href;
  return {
    accent: light && dark ? { light, dark } : undefined,
    agentName: text(look['agent_name']),
    greeting: text(greeting),
    starters: Array.isArray(starters) ? starters.filter((starter) => text(starter) !== undefined) : [],
    askEmail: look['ask_email'] === 'on_escalation' || look['ask_email'] === 'first' ? look['ask_email'] : 'never',
    // The server sends `open: null` for a team without hours.
    hidden: look['outside'] === 'hide' && open !== true && look['open'] !== null,
    open,
    back: back === undefined ? undefined : new Date(back),
    logo: url(look['logo_url']),
    avatar: url(look['avatar_url']),
  };
}

/** A look that was stored at an earlier visit, without its hours, because these may be out of date. */
export const withoutHours = (stored: unknown): unknown => ({
  ...recordOf(stored),
  open: undefined,
  next_opening: undefined,
});

/** Within this time, in ms, a weekday names one day only. */
const weekdayNamesMs = 6 * 86_400_000;

/** Whether the team is there, or when it is back, in the customer's own time. */
export function hoursSentence(
  { open, back }: Pick<Look, 'open' | 'back'>,
  locale: string,
  words: Pick<Texts, 'here' | 'away' | 'backAt'>,
  now: Date,
): string {
  if (open === undefined) return '';
  if (open) return words.here;
  if (back === undefined) return words.away;
  const isFar = back.getTime() - now.getTime() > weekdayNamesMs;
  const time = new Intl.DateTimeFormat(locale, {
    weekday: 'long',
    ...(isFar ? ({ day: 'numeric', month: 'long' } as const) : {}),
    hour: 'numeric',
    minute: '2-digit',
  });
  return words.backAt(time.format(back));
}

/** The colours of the accent as a style sheet. */
export const accentCss = ({ light, dark }: NonNullable<Look['accent']>): string => `
.root { --accent: ${light}; }
.root[data-theme='dark'] { --accent: ${dark}; }
@media (prefers-color-scheme: dark) { .root[data-theme='auto'] { --accent: ${dark}; } }
`;

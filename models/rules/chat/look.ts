/** How an organization's widget looks and what it says. Pure. */

export const widgetLanguages = ['en', 'de', 'fr', 'es', 'ar'] as const;
export type WidgetLanguage = (typeof widgetLanguages)[number];

/** When the widget asks a visitor for an e-mail address to which replies can be sent. `first`: from the beginning. */
export const asksForEmail = ['never', 'on_escalation', 'first'] as const;
/**
 * What the widget does outside the team's hours. `show`: the widget says when the team is back. `hide`: the widget is
 * not displayed.
 */
export const outsideHours = ['show', 'hide'] as const;

export const pictures = ['logo', 'avatar'] as const;
export type Picture = (typeof pictures)[number];
export const maxPictureBytes = 100_000;

export const maxAgentName = 60;
export const maxGreeting = 500;
export const maxStarters = 4;
export const maxStarter = 120;

export type Greeting = { greeting?: string | undefined; starters?: string[] | undefined };

/**
 * The first bytes of pictures in the formats that every browser shows and that cannot contain scripts, from the
 * formats' specifications.
 */
const formats: readonly { type: string; bytes: readonly number[]; at?: number }[] = [
  { type: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/webp', bytes: [0x57, 0x45, 0x42, 0x50], at: 8 },
];

/** The media type of a picture by its bytes; undefined for anything else. */
export const pictureType = (content: Uint8Array): string | undefined =>
  formats.find(({ bytes, at = 0 }) => bytes.every((byte, index) => content[at + index] === byte))?.type;

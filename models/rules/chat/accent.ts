/** The accent colour of an organization's widget, and whether its contrast is readable. Pure. */

/** In each theme, the background on which text in the accent colour has the lowest contrast (web/widget/styles.ts). */
const grounds = { light: '#eef1f6', dark: '#262e3a' } as const;
/** In each theme, the colour of text on a background in the accent colour. */
const onAccent = { light: '#ffffff', dark: '#0c1a2c' } as const;
export type Theme = keyof typeof grounds;
const themes = ['light', 'dark'] as const;

/** The minimum contrast ratio of text (WCAG 2.2, success criterion 1.4.3). */
const least = 4.5;
export const accentPattern = /^#[0-9a-f]{6}$/;

const partsOf = (hex: string): number[] => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));

/** The relative luminance of WCAG 2.2, from 0 to 1. */
function luminance(hex: string): number {
  const [red, green, blue] = partsOf(hex).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Whether text in this colour, and text on a background in this colour, is readable in a theme. */
export const isReadable = (accent: string, theme: Theme): boolean =>
  contrast(accent, grounds[theme]) >= least && contrast(accent, onAccent[theme]) >= least;

/**
 * The colour mixed with black or white. `target`: 0 for black, 255 for white. `share`: how much black or white, from 0
 * to 1.
 */
function mixed(accent: string, target: 0 | 255, share: number): string {
  const parts = partsOf(accent).map((part) => Math.round(part + (target - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * The nearest colour that is readable in a theme: the colour mixed with as little black (light theme) or white (dark
 * theme) as needed.
 */
export function readable(accent: string, theme: Theme): string {
  const target = theme === 'light' ? 0 : 255;
  let percent = 0;
  while (percent < 100 && !isReadable(mixed(accent, target, percent / 100), theme)) percent += 1;
  return mixed(accent, target, percent / 100);
}

/**
 * The accent colour in each theme, made from the one colour that an organization chooses. In both themes, a colour that
 * is not readable is mixed with black or white.
 */
export const accentsOf = (accent: string): Record<Theme, string> =>
  Object.fromEntries(themes.map((theme) => [theme, readable(accent, theme)])) as Record<Theme, string>;

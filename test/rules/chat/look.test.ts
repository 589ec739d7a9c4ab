import { describe, expect, it } from '@jest/globals';
import { accentsOf, contrast, isReadable, readable } from '../../../models/rules/chat/accent.ts';
import { pictureType, widgetLanguages } from '../../../models/rules/chat/look.ts';
import { colors } from '../../../web/widget/styles.ts';
import { texts } from '../../../web/widget/texts.ts';

describe('the accent colour of the widget', () => {
  it('contrast() computes the contrast ratio of WCAG, which is 21:1 for black on white', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  it('the widget’s default accent colours are readable in both themes', () => {
    for (const theme of ['light', 'dark'] as const) expect(isReadable(colors[theme].accent, theme)).toBe(true);
  });

  it.each(['#ffcc00', '#ff0000', '#00ff00', '#8ab8f5', '#ffffff', '#000000', '#1d57a8', '#777777'])(
    'accentsOf turns %s into colours that contrast enough with the widget’s other colours in each theme',
    (given) => {
      for (const theme of ['light', 'dark'] as const) {
        const { [theme]: accent } = accentsOf(given);
        expect(isReadable(accent, theme)).toBe(true);
        const { ground, raised, 'on-accent': on } = colors[theme];
        for (const other of [ground, raised, on]) expect(contrast(accent, other)).toBeGreaterThanOrEqual(4.5);
      }
    },
  );

  it('a readable colour is kept, and an unreadable colour is changed only as much as needed', () => {
    expect(readable('#1d57a8', 'light')).toBe('#1d57a8');
    expect(isReadable('#ffcc00', 'light')).toBe(false);
    const nearest = readable('#ffcc00', 'light');
    expect(contrast(nearest, colors.light.raised)).toBeLessThan(4.7);
  });
});

describe('the pictures of the widget', () => {
  const of = (...bytes: (number | string)[]) =>
    pictureType(Buffer.concat(bytes.map((part) => Buffer.from(typeof part === 'string' ? part : [part]))));
  it.each([
    ['PNG', of(0x89, 'PNG\r\n', 0x1a, '\n'), 'image/png'],
    ['JPEG', of(0xff, 0xd8, 0xff, 0xe0), 'image/jpeg'],
    ['WebP', of('RIFF....WEBP'), 'image/webp'],
    ['SVG, which may hold scripts', of('<svg xmlns="http://www.w3.org/2000/svg">'), undefined],
    ['another RIFF file', of('RIFF....WAVE'), undefined],
    ['nothing', of(), undefined],
  ])('pictureType recognizes only PNG, JPEG and WebP, by their first bytes: %s', (_, seen, type) =>
    expect(seen).toBe(type),
  );
});

it('the languages for greetings are exactly those in which the widget has texts', () =>
  expect(widgetLanguages).toEqual(Object.keys(texts)));

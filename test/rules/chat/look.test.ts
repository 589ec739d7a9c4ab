import { describe, expect, it } from '@jest/globals';
import { accentsOf, contrast, isReadable, readable } from '../../../models/rules/chat/accent.ts';
import { pictureType, widgetLanguages } from '../../../models/rules/chat/look.ts';
import { colors } from '../../../web/widget/styles.ts';
import { texts } from '../../../web/widget/texts.ts';

describe('the accent of the widget', () => {
  it('the contrast is that of WCAG: black on white is 21:1', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  it('the widget’s own accents pass', () => {
    for (const theme of ['light', 'dark'] as const) expect(isReadable(colors[theme].accent, theme)).toBe(true);
  });

  it.each(['#ffcc00', '#ff0000', '#00ff00', '#8ab8f5', '#ffffff', '#000000', '#1d57a8', '#777777'])(
    '%s becomes a colour that passes in each theme, on the widget’s own grounds',
    (given) => {
      for (const theme of ['light', 'dark'] as const) {
        const { [theme]: accent } = accentsOf(given);
        expect(isReadable(accent, theme)).toBe(true);
        const { ground, raised, 'on-accent': on } = colors[theme];
        for (const other of [ground, raised, on]) expect(contrast(accent, other)).toBeGreaterThanOrEqual(4.5);
      }
    },
  );

  it('a colour that passes stays, and another one changes as little as needed', () => {
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
  ])('%s is told by its bytes', (_, seen, type) => expect(seen).toBe(type));
});

it('greetings are in the languages that the widget speaks', () => expect(widgetLanguages).toEqual(Object.keys(texts)));

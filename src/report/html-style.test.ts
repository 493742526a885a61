import { expect, it } from 'vitest';
import { STYLE } from './html-style.ts';

/** As browsers paint `Canvas`. */
const CANVAS = { light: '#ffffff', dark: '#121212' };

function colorsIn(css: string): Map<string, string> {
  return new Map(
    [...css.matchAll(/--([a-z-]+): (#[0-9a-f]{3,6});/g)].map(([, name = '', color = '']) => [name, color]),
  );
}

function brightness(color: string): number {
  const hex = color.length === 4 ? color.replaceAll(/[0-9a-f]/g, '$&$&') : color;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [brightness(one), brightness(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

it.each(['light', 'dark'] as const)('words of the page can be read in %s colours', (scheme) => {
  const dark = /prefers-color-scheme: dark\) \{(.*)\}/.exec(STYLE)?.[1] ?? '';
  const colors = new Map([...colorsIn(STYLE.replace(dark, '')), ...(scheme === 'dark' ? colorsIn(dark) : [])]);
  for (const name of ['good', 'bad', 'dim'])
    expect(contrast(colors.get(name) ?? '', CANVAS[scheme]), name).toBeGreaterThan(4.5);
});

it('neither a heading nor how a task stands is cut into letters where a table is narrow', () => {
  expect(STYLE).toMatch(/\bth, td \.status \{ white-space: nowrap; \}/);
});

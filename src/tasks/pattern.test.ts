import { describe, expect, it } from 'vitest';
import { expandBraces } from './braces.ts';
import { matches, overlaps, parsePattern } from './pattern.ts';

const pattern = (text: string) => parsePattern(text.split('/'));

describe('matches', () => {
  it.each([
    ['src/a.ts', 'src/a.ts', true],
    ['src/a.ts', 'src/a.tsx', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/.ts', true],
    ['src/*.ts', 'src/x/a.ts', false],
    ['src/*', 'src/.env', true],
    ['src/?.ts', 'src/ä.ts', true],
    ['src/?.ts', 'src/😀.ts', true],
    ['src/?.ts', 'src/.ts', false],
    ['src/**', 'src/a/b/c.ts', true],
    ['src/**', 'src', false],
    ['**', 'anything/at/all', true],
    ['src/**/a.ts', 'src/a.ts', true],
    ['src/**/a.ts', 'src/x/y/a.ts', true],
    ['**/test/**/*.ts', 'lib/test/unit/a.ts', true],
    ['a**b/c', 'axyb/c', true],
    ['a**b/c', 'ax/yb/c', false],
    ['[abc].ts', 'b.ts', true],
    ['[abc].ts', 'd.ts', false],
    ['[a-c0-9].ts', '7.ts', true],
    ['[!a-c].ts', 'b.ts', false],
    ['[^a-c].ts', 'd.ts', true],
    ['[]x].ts', '].ts', true],
    ['[a-].ts', '-.ts', true],
    ['[a.ts', '[a.ts', true],
    ['*a*a*a*b', 'a/a/a/b', false],
    ['src/*', 'src/*', true],
    ['a', 'A', false],
  ])('%s and %s: %s', (text, path, expected) => {
    expect(matches(pattern(text), path)).toBe(expected);
  });

  it('is fast with patterns that make other matchers backtrack for ever', () => {
    expect(matches(pattern(`${'*a'.repeat(200)}b`), 'a'.repeat(800))).toBe(false);
    expect(matches(pattern(`${'**/a/'.repeat(200)}b`), 'a/'.repeat(800) + 'c')).toBe(false);
  });
});

describe('overlaps', () => {
  it.each([
    ['src/a.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/*.js', false],
    ['src/a*', 'src/*b', true],
    ['src/a*', 'src/b*', false],
    ['src/**', 'src/x/y.ts', true],
    ['src/**', 'lib/**', false],
    ['**/a.ts', 'src/**', true],
    ['**/a.ts', '**/b.ts', false],
    ['**/a/**', '**/b/**', true],
    ['a/**/z', 'a/z', true],
    ['*/b', 'a/*', true],
    ['?', 'ab', false],
    ['[ab].ts', 'c.ts', false],
    ['[ab].ts', '[cd].ts', true],
  ])('%s and %s: %s', (a, b, expected) => {
    expect(overlaps(pattern(a), pattern(b))).toBe(expected);
    expect(overlaps(pattern(b), pattern(a))).toBe(expected);
  });

  it('agrees with a search through all short paths', () => {
    const random = generator(20_261_118);
    const paths = allPaths(allNames(2), 4);
    const texts = Array.from({ length: 120 }, () => randomPattern(random, ['a', 'b', '*', '?'], 3, 2));
    expectExact(texts, paths);
  });

  it('agrees with a search through all short names', () => {
    const random = generator(7);
    const texts = Array.from({ length: 120 }, () => randomPattern(random, ['a', 'b', '*', '?'], 1, 4));
    expectExact(texts, allNames(8));
  });
});

/** Compares `matches` with a regular expression for each path, and `overlaps` with the search for a common path. */
function expectExact(texts: readonly string[], paths: readonly string[]): void {
  const meant = texts.map((text) => new Set(paths.filter((path) => asRegExp(text).test(path))));
  for (const [index, text] of texts.entries()) {
    const parsed = pattern(text);
    expect([text, paths.filter((path) => matches(parsed, path))]).toEqual([text, [...meant[index]!]]);
    for (const [other, otherText] of texts.entries()) {
      const common = [...meant[index]!].some((path) => meant[other]!.has(path));
      expect([text, otherText, overlaps(parsed, pattern(otherText))]).toEqual([text, otherText, common]);
    }
  }
}

function asRegExp(text: string): RegExp {
  const names = text.split('/');
  const parts = names.map((name, index) => {
    const last = index === names.length - 1;
    if (name === '**') return last ? '.+' : '(?:[^/]+/)*';
    return name.replaceAll(/\*+/g, '[^/]*').replaceAll('?', '[^/]') + (last ? '' : '/');
  });
  return new RegExp(`^${parts.join('')}$`);
}

function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

function randomPattern(
  random: (limit: number) => number,
  glyphs: readonly string[],
  names: number,
  length: number,
): string {
  const name = (): string => Array.from({ length: 1 + random(length) }, () => glyphs[random(glyphs.length)]).join('');
  const count = 1 + random(names);
  return Array.from({ length: count }, () => (names > 1 && random(3) === 0 ? '**' : name())).join('/');
}

function allNames(longest: number): string[] {
  if (longest === 0) return [];
  const shorter = allNames(longest - 1);
  const longestOnes = longest === 1 ? [''] : shorter.filter((name) => name.length === longest - 1);
  return [...shorter, ...longestOnes.flatMap((name) => [`${name}a`, `${name}b`])];
}

function allPaths(names: readonly string[], depth: number): string[] {
  if (depth === 1) return [...names];
  const shorter = allPaths(names, depth - 1);
  return [...names, ...shorter.flatMap((path) => names.map((name) => `${path}/${name}`))];
}

describe('expandBraces', () => {
  it.each([
    ['a.ts', ['a.ts']],
    ['{a,b}.ts', ['a.ts', 'b.ts']],
    ['src/{a,b/{c,d}}.ts', ['src/a.ts', 'src/b/c.ts', 'src/b/d.ts']],
    ['{a,b}{c,d}', ['ac', 'ad', 'bc', 'bd']],
    ['{,test/}a.ts', ['a.ts', 'test/a.ts']],
    ['{{project}}/a.ts', ['{{project}}/a.ts']],
    ['{{a,b}}', ['{a}', '{b}']],
    ['{a,b', ['{a,b']],
    ['a,b}', ['a,b}']],
    ['{}{,}', ['{}', '{}']],
  ])('%s', (text, expected) => {
    expect(expandBraces(text)).toEqual(expected);
  });

  it('gives up beyond 256 alternatives, even when there are too many to count', () => {
    expect(expandBraces('{a,b}'.repeat(8))).toHaveLength(256);
    expect(expandBraces('{a,b}'.repeat(9))).toBeUndefined();
    expect(expandBraces('{a,b}'.repeat(200))).toBeUndefined();
    expect(expandBraces('{a,'.repeat(300) + 'b' + '}'.repeat(300))).toBeUndefined();
  });
});

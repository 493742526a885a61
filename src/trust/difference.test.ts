import { describe, expect, it } from 'vitest';
import { compareLines, differences } from './difference.ts';
import { steeringFile } from './steering-files.ts';

const file = (text: string, executable = false): ReturnType<typeof steeringFile> =>
  steeringFile(Buffer.from(text), executable);

describe('the difference to what was approved', () => {
  it('has the added and removed lines, with two around them', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\n';
    const after = 'a\nb\nc\nd\nE\nf\ng\nh\n';
    expect(differences({ x: file(before) }, { x: file(after) })).toEqual([
      { file: 'x', what: 'has changed (+2 -1 lines)', lines: ['  …', '  c', '  d', '- e', '+ E', '  f', '  g', '+ h'] },
    ]);
  });

  it('is none when content and mode are the same', () => {
    expect(differences({ x: file('a') }, { x: file('a') })).toEqual([]);
    expect(differences({ x: file('a') }, { x: file('a', true) })).toEqual([
      { file: 'x', what: 'has changed, and can be executed (+0 -0 lines)', lines: [] },
    ]);
  });

  it('names a file that is new, that is gone, or that cannot be shown', () => {
    expect(differences({ old: file('a\n') }, { new: file('b\n'), tool: file('\0\u0001') })).toEqual([
      { file: 'new', what: 'is new (+1 -0 lines)', lines: ['+ b'] },
      { file: 'old', what: 'is gone (+0 -1 lines)', lines: ['- a'] },
      {
        file: 'tool',
        what: 'is new (+0 -0 lines)',
        lines: [expect.stringMatching(/^ {2}\(2 bytes that are no text.*sha256 [0-9a-f]{64}\)$/)],
      },
    ]);
  });

  it('shows invisible characters, and those that a terminal obeys, as numbers', () => {
    const text = 'a\u001B[2Kb\rc\u202Ed\u200Be\u00ADf\u2028g\u{E0041}h\n';
    expect(differences({}, { 'docker/a\nb': file('') })[0]?.file).toBe('docker/a<U+000A>b');
    expect(differences({}, { x: file(text) })[0]?.lines).toEqual([
      '+ a<U+001B>[2Kb<U+000D>c<U+202E>d<U+200B>e<U+00AD>f<U+2028>g<U+E0041>h',
    ]);
  });

  it('is the shortest one', () => {
    const [before, after] = ['abcabba'.split(''), 'cbabac'.split('')];
    const lines = compareLines(before, after);
    expect(lines.filter(({ sign }) => sign !== ' ')).toHaveLength(5);
    const side = (other: string): string[] => lines.filter(({ sign }) => sign !== other).map(({ text }) => text);
    expect([side('+'), side('-')]).toEqual([before, after]);
  });

  it('of two long texts without common lines is found quickly', () => {
    const [before, after] = ['a', 'b'].map((letter) =>
      Array.from({ length: 20_000 }, (_, index) => `${letter}${index}`),
    );
    expect(compareLines(before ?? [], after ?? [])).toHaveLength(40_000);
  });
});

import { describe, expect, it } from 'vitest';
import { createByteLines } from './whole-lines.ts';

function cut(blocks: readonly (string | Buffer)[], longest?: number): { given: string[]; rest: string[] } {
  const given: string[] = [];
  const lines = createByteLines((text) => given.push(text), longest);
  for (const block of blocks) lines.push(Buffer.from(block));
  const before = given.length;
  lines.end();
  return { given: given.slice(0, before), rest: given.slice(before) };
}

describe('byte lines', () => {
  it('are passed on whole, those of a block together, and the rest at the end', () => {
    expect(cut(['a\nb\nc', 'd\ne'])).toEqual({ given: ['a\nb', 'cd'], rest: ['e'] });
    expect(cut(['a\n\n'])).toEqual({ given: ['a\n'], rest: [] });
    expect(cut(['\n', 'a'])).toEqual({ given: [''], rest: ['a'] });
  });

  it('are whole when a block ends within a character', () => {
    const [first, second] = [Buffer.from('grün\n').subarray(0, 3), Buffer.from('grün\n').subarray(3)];
    expect(cut([first, second])).toEqual({ given: ['grün'], rest: [] });
  });

  it('are cut when they are too long', () => {
    expect(cut(['12345', '678', '9\n1234', '56\n'], 6)).toEqual({ given: ['12345678', '9', '123456'], rest: [] });
  });
});

import { expect, it } from 'vitest';
import { missingLines } from './missing-lines.ts';

const letters = (text: string): string[] => Array.from(text);

it.each([
  ['is nothing when all is kept', 'abc', 'abc', ''],
  ['is nothing when nothing was printed', 'abc', '', ''],
  ['is all when nothing is kept', '', 'abc', 'abc'],
  ['is what was printed later', 'abc', 'abcde', 'de'],
  ['is what was printed later, where the engine has less than we have', 'abcd', 'cdef', 'ef'],
  ['is what was printed later, where we have read only the last lines', 'cd', 'abcdef', 'ef'],
  ['is all when there is no common place: then there is a hole that nobody can fill', 'abc', 'xyz', 'xyz'],
  ['begins after the longest piece that both have', 'abc', 'abcxc', 'xc'],
  ['begins after the last of several such places', 'ab', 'abxabyz', 'yz'],
  ['is nothing when the last such place is at the end', 'aaa', 'aaaaaaa', ''],
  ['is not misled by lines that are the same over and over', 'xaaa', 'xaaaxaab', 'xaab'],
  ['is not misled by a note of ours, nor by half a line, at the end of what is kept', 'ab?!', 'abcd', 'cd'],
  ['is not misled by them within it either', 'a?b!c', 'abcd', 'd'],
])('what is missing %s', (_, kept, printed, missing) => {
  expect(missingLines(letters(kept), letters(printed)).join('')).toBe(missing);
});

it('tells in one pass, also where a hostile worker has printed one line a million times', () => {
  const kept = Array.from({ length: 100_000 }, () => 'y');
  const printed = [...Array.from({ length: 1_000_000 }, () => 'y'), 'z'];
  expect(missingLines(kept, printed)).toEqual(['z']);
  expect(missingLines([...kept, 'x'], [...kept, 'z', ...kept])).toEqual([]);
});

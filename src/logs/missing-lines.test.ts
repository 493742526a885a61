import { expect, it } from 'vitest';
import { missingLines } from './missing-lines.ts';

const letters = (text: string): string[] => Array.from(text);

it.each([
  ['is nothing when all is kept', 'abc', 'abc', ''],
  ['is nothing when nothing was printed', 'abc', '', ''],
  ['is all when nothing is kept', '', 'abc', 'abc'],
  ['is what was printed later', 'abc', 'abcde', 'de'],
  ['is what was printed later, when the engine has less than the log', 'abcd', 'cdef', 'ef'],
  ['is what was printed later, when only the last lines of the log were read', 'cd', 'abcdef', 'ef'],
  ['is all when there is no common line: then some lines are lost', 'abc', 'xyz', 'xyz'],
  ['begins after the longest common part', 'abc', 'abcxc', 'xc'],
  ['begins after the last of several such places', 'ab', 'abxabyz', 'yz'],
  ['is nothing when the last such place is at the end', 'aaa', 'aaaaaaa', ''],
  ['is right for lines that repeat', 'xaaa', 'xaaaxaab', 'xaab'],
  ['is right with a note of ours or half a line at the end of the log', 'ab?!', 'abcd', 'cd'],
  ['is right with such lines within the log', 'a?b!c', 'abcd', 'd'],
])('what is missing %s', (_, kept, printed, missing) => {
  expect(missingLines(letters(kept), letters(printed)).join('')).toBe(missing);
});

it('is found in one pass, also when a hostile worker has printed one line a million times', () => {
  const kept = Array.from({ length: 100_000 }, () => 'y');
  const printed = [...Array.from({ length: 1_000_000 }, () => 'y'), 'z'];
  expect(missingLines(kept, printed)).toEqual(['z']);
  expect(missingLines([...kept, 'x'], [...kept, 'z', ...kept])).toEqual([]);
});

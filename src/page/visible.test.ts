import { expect, it } from 'vitest';
import { visible } from './visible.ts';

it.each([
  ['a\tb\n', 'a\tb\n'],
  ['<b>é😀</b>', '<b>é😀</b>'],
  ['one\r\ntwo\rthree', 'one\ntwo\nthree'],
  ['\u001B[2J\u001B]0;title\u0007', '^[[2J^[]0;title^G'],
  ['\u009B31m\u202Etxt.exe', '\uFFFD31m\uFFFDtxt.exe'],
  ['\u0000\u007F', '^@^?'],
])('shows %j as %j', (output, expected) => {
  expect(visible(output)).toBe(expected);
});

import { expect, it } from 'vitest';
import { shown, typed } from './typed.ts';

it.each([
  ['a letter', 's', 'ls'],
  ['a key that moves the cursor', '\u001B[D', 'l'],
  ['a key that removes', '\u001B[3~', 'l'],
  ['a key of functions', '\u001BOP', 'l'],
  ['a tab', '\t', 'l'],
  ['a paste of several lines', 's\rpwd\r\ncd /', 'ls\npwd\ncd /'],
])('a line after %s', (_, data, expected) => {
  expect(typed('l', data)).toBe(expected);
});

it('a line end that was pasted shows within the line', () => {
  expect(shown('ls\npwd')).toBe('ls ⏎ pwd');
});

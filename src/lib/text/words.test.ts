import { expect, it } from 'vitest';
import { bullets, clip, counted, firstLine, indented, inOneLine, listed } from './words.ts';

it('one thing has the singular, none and many have the plural', () => {
  expect([0, 1, 2].map((number) => counted(number, 'task'))).toEqual(['0 tasks', '1 task', '2 tasks']);
  expect(counted(1, 'task needs', 'tasks need')).toBe('1 task needs');
  expect(counted(3, 'task needs', 'tasks need')).toBe('3 tasks need');
});

it('a list shows so many items, and says how many more there are', () => {
  expect(listed([])).toBe('none');
  expect(listed(['a', 'b', 'c'])).toBe('a, b, c');
  expect(listed(['a', 'b', 'c'], 3)).toBe('a, b, c');
  expect(listed(['a', 'b', 'c'], 2)).toBe('a, b and 1 more');
  expect([bullets(['a', 'b']), indented(['a'])]).toEqual(['\n  - a\n  - b', '\n  a']);
});

it('a text that is too long is cut, and line ends become blanks', () => {
  expect(['1234', '12345'].map((text) => clip(text, 4))).toEqual(['1234', '123…']);
  expect([firstLine('a\nb'), firstLine('a'), firstLine('')]).toEqual(['a', 'a', '']);
  expect(inOneLine(' a\n\tb\u0007c ')).toBe('a b c');
});

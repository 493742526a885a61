import { expect, it } from 'vitest';
import { inside } from './paths.ts';

const ROOT = '/workspace/user';

it.each([
  ['a.txt', '/workspace/user/a.txt'],
  ['./a//b/./c', '/workspace/user/a/b/c'],
  ['/workspace/user/a', '/workspace/user/a'],
  ['..a/b..', '/workspace/user/..a/b..'],
])('%s is %s', (file, place) => {
  expect(inside(ROOT, file)).toBe(place);
});

it.each([
  '',
  '.',
  '..',
  '../user2/x',
  'a/../../x',
  'a/..',
  '/etc/passwd',
  '/workspace/user2/x',
  '/workspace/user',
  'a\0b',
  'a\nb',
  'a\u001b[2J',
  '\ud800',
  'x'.repeat(256),
  'x/'.repeat(2100),
  'a/'.repeat(64) + 'b',
])('refuses %j', (file) => {
  expect(() => inside(ROOT, file)).toThrow(/cannot be used/);
});

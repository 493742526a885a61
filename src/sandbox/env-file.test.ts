import { expect, it } from 'vitest';
import { parseEnvFile } from './env-file.ts';

it('reads names, quotes, comments and export, and expands nothing', () => {
  const text = [
    '# a comment',
    '',
    'PLAIN=one two # a comment',
    'export EXPORTED = yes',
    "SINGLE='a $HOME # b'",
    String.raw`DOUBLE="a \"b\" \\ \n c \$HOME" # a comment`,
    'EMPTY=',
    'HASH=#no',
    'INNER=a#b',
    'TWICE=1',
    'TWICE=2',
    'QUOTE=it\'s "so"',
    'PROTO=$(id)`id`${HOME}',
  ].join('\r\n');
  expect(parseEnvFile('.env', Buffer.from(`\uFEFF${text}\n`))).toEqual({
    PLAIN: 'one two',
    EXPORTED: 'yes',
    SINGLE: 'a $HOME # b',
    DOUBLE: 'a "b" \\ \n c $HOME',
    EMPTY: '',
    HASH: '',
    INNER: 'a#b',
    TWICE: '2',
    QUOTE: 'it\'s "so"',
    PROTO: '$(id)`id`${HOME}',
  });
});

it.each([
  ['no name', '=secret', 'line 1: it is not NAME=value'],
  ['a name that is none', 'A=1\nB-C=secret', 'line 2: it is not NAME=value'],
  ['a word', 'secret', 'line 1: it is not NAME=value'],
  ['quotes without an end', 'A="secret', 'line 1: its quotes do not end, or something comes after them'],
  ['a value of two lines', "A='secret\nmore'", 'line 1: its quotes'],
  ['text after quotes', 'A="secret"more', 'line 1: its quotes'],
  ['a NUL', 'A=secret\0', 'line 1: it has a NUL'],
])('refuses %s by its line, without its value', (_, text, problem) => {
  let thrown: unknown;
  try {
    parseEnvFile('.env', Buffer.from(text));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: 'ENV_FILE_INVALID', message: expect.stringContaining(problem) });
  expect(String(thrown)).not.toMatch(/secret/);
});

it('refuses what is no text, and too many variables', () => {
  expect(() => parseEnvFile('.env', Buffer.from([65, 61, 0xff]))).toThrow(/UTF-8/);
  const many = Array.from({ length: 257 }, (_, index) => `A${index}=`).join('\n');
  expect(() => parseEnvFile('.env', Buffer.from(many))).toThrow(/256/);
  expect(parseEnvFile('.env', Buffer.from('__proto__=1\nconstructor=2'))).toMatchObject({ constructor: '2' });
});

import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { checkRequest } from './check-request.ts';
import type { Names } from './check-request.ts';

function asked(
  names: Names,
  headers: Record<string, string>,
  tokens: ReadonlyMap<string, string> | null = null,
): string {
  const rawHeaders = Object.entries(headers).flat();
  try {
    return checkRequest({ headers, rawHeaders } as unknown as IncomingMessage, {
      names,
      tokens,
      origins: ['http://localhost:3000'],
    });
  } catch (error) {
    return (error as { code: string }).code;
  }
}

it.each<[Names, string, string]>([
  ['local', 'localhost:8000', 'local'],
  ['local', 'LOCALHOST', 'local'],
  ['local', '127.9.9.9:1', 'local'],
  ['local', '[::1]:8000', 'local'],
  ['local', 'evil.example:8000', 'HOST_REFUSED'],
  ['local', '127.0.0.1.evil.example', 'HOST_REFUSED'],
  ['local', 'localhost.evil.example', 'HOST_REFUSED'],
  ['local', 'evil.example@localhost', 'HOST_REFUSED'],
  ['local', 'localhost:8000:1', 'HOST_REFUSED'],
  ['local', '', 'HOST_REFUSED'],
  ['local', '192.168.1.5:8000', 'HOST_REFUSED'],
  ['own', '192.168.1.5:8000', 'local'],
  ['own', '[fe80::1]:8000', 'local'],
  ['own', `${hostname()}:8000`, 'local'],
  ['own', 'rebound.example:8000', 'HOST_REFUSED'],
  ['any', 'runner.example', 'local'],
])('a server for "%s" names that is asked as %j says %s', (names, host, expected) => {
  expect(asked(names, { host })).toBe(expected);
});

it.each([
  ['http://localhost:3000', 'local'],
  ['http://localhost:8000', 'local'],
  ['null', 'ORIGIN_REFUSED'],
  ['', 'ORIGIN_REFUSED'],
  ['http://localhost:3001', 'ORIGIN_REFUSED'],
  ['http://localhost:8000.evil.example', 'ORIGIN_REFUSED'],
  ['http://localhost:3000, http://evil.example', 'ORIGIN_REFUSED'],
  ['http:', 'ORIGIN_REFUSED'],
  ['file://', 'ORIGIN_REFUSED'],
])('a page of the origin %j gets %s', (origin, expected) => {
  expect(asked('local', { host: 'localhost:8000', origin })).toBe(expected);
});

it('refuses a request with two names, and one user is not another', () => {
  expect(asked('any', { host: 'a.example', Host: 'b.example' })).toBe('HOST_REFUSED');
  const tokens = new Map([
    ['token-of-anna-1234', 'anna'],
    ['token-of-ben-12345', 'ben'],
  ]);
  const host = 'a.example';
  expect(asked('any', { host, authorization: 'Bearer token-of-ben-12345' }, tokens)).toBe('ben');
  expect(asked('any', { host, authorization: 'bearer token-of-ben-12345' }, tokens)).toBe('ben');
  expect(asked('any', { host, authorization: 'Bearer token-of-ben-1234' }, tokens)).toBe('TOKEN_REFUSED');
  expect(asked('any', { host, 'x-user': 'anna' }, tokens)).toBe('TOKEN_REFUSED');
});

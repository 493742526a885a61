import { describe, expect, it } from 'vitest';
import { packagesOf, wantedOf } from './package-names.ts';

describe('packages that imports need', () => {
  it.each([
    ['zod', ['zod']],
    ['lodash/fp', ['lodash']],
    ['@scope/name', ['@scope/name']],
    ['@scope/name/deep/file.js', ['@scope/name']],
    ['JSONStream', ['JSONStream']],
    ['zod?query', ['zod']],
    ['./local', []],
    ['../up', []],
    ['/absolute', []],
    ['#internal', []],
    ['', []],
    ['data:text/javascript,1', []],
    ['https://example.org/x.js', []],
    ['file:///x.js', []],
    ['node:fs', []],
    ['bun:sqlite', []],
  ])('of %j', (specifier, packages) => {
    expect(packagesOf([specifier])).toEqual(packages);
  });

  it('are named once', () => {
    expect(packagesOf(['zod', 'zod/v4', '@a/b', '@a/b/c'])).toEqual(['zod', '@a/b']);
  });

  it.each([
    ['--help', /no name of a package/],
    ['-g', /no name of a package/],
    ['a b', /no name of a package/],
    ['$(id)', /no name of a package/],
    ['@/alias', /no name of a package/],
    ['@scope', /no name of a package/],
    ['__proto__', /no name of a package/],
    ['node_modules', /no name of a package/],
    ['x'.repeat(215), /no name of a package/],
    ['lodash@4', /an import has no version/],
    ['@scope/name@1.0.0/deep', /an import has no version/],
  ])('%j is refused', (specifier, why) => {
    expect(() => packagesOf([specifier])).toThrow(why);
  });
});

describe('packages that a client names', () => {
  it.each([
    ['zod', 'zod', 'latest'],
    ['zod@3', 'zod', '3'],
    ['zod@^3.1.0', 'zod', '^3.1.0'],
    ['zod@next', 'zod', 'next'],
    ['zod@>=1 <2', 'zod', '>=1 <2'],
    ['@scope/name', '@scope/name', 'latest'],
    ['@scope/name@1.0.0-beta.1', '@scope/name', '1.0.0-beta.1'],
  ])('%j', (request, name, range) => {
    expect([...wantedOf([request])]).toEqual([[name, range]]);
  });

  it.each([
    'zod@',
    'zod@.',
    'zod@..',
    'zod@npm:other',
    'zod@file:/etc',
    'zod@../x',
    'zod@git+ssh://x',
    'zod@user/repo',
    '@scope@1',
    '@',
  ])('%j is refused', (request) => {
    expect(() => wantedOf([request])).toThrow(/is refused/);
  });
});

import { describe, expect, it } from 'vitest';
import { isSelected } from './piston-routes.ts';

describe('the version that a client of Piston names', () => {
  it.each([
    ['3.11.2', true],
    ['3.11', true],
    ['3', true],
    ['*', true],
    ['', true],
    ['x', true],
    ['3.x', true],
    ['3.11.x', true],
    ['v3.11.2', true],
    ['=3.11.2', true],
    ['^3.9.0', true],
    ['~3.11.0', true],
    ['>=3.5', true],
    ['>=2', true],
    ['3.12', false],
    ['2', false],
    ['^2.0.0', false],
    ['^3.12', false],
    ['~3.10.0', false],
    ['>=4', false],
    ['latest', false],
    ['3.11.2; rm', false],
    ['../3', false],
  ])('%s of 3.11.2: %s', (selector, is) => {
    expect(isSelected('3.11.2', selector)).toBe(is);
  });
});

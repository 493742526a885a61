import { describe, expect, it } from 'vitest';
import { columnsOf, fit, padTo, rowOf } from './columns.ts';
import { colorsFor } from './colors.ts';

describe('columns of a terminal', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['naïve', 5],
    ['nai\u0308ve', 5],
    ['登录', 4],
    ['ok 🚀', 5],
    ['\u001B[2J', 9],
  ])('%j takes its columns as it is shown', (text, columns) => {
    expect(columnsOf(fit(text, 100))).toBe(columns);
  });

  it.each([
    ['plain', 5, 'plain'],
    ['plain', 4, 'pla…'],
    ['plain', 1, '…'],
    ['plain', 0, ''],
    // Half of a letter of two columns cannot be shown.
    ['登录页面', 6, '登录…'],
    ['登录页面', 7, '登录页…'],
  ])('%j fits in %s columns as %j', (text, columns, shown) => {
    expect(fit(text, columns)).toBe(shown);
  });

  it('are filled up with blanks', () => {
    expect(padTo('登', 4)).toBe('登  ');
    expect(padTo('login', 3)).toBe('lo…');
  });

  it('are never more than a row has, and colours take none', () => {
    const { red, dim } = colorsFor(true);
    const row = (columns: number): string => rowOf([['ab', red], ['cdef'], ['gh', dim]], columns).toString();
    expect(row(8)).toBe('\u001B[31mab\u001B[39mcdef\u001B[2mgh\u001B[22m');
    expect(row(4)).toBe('\u001B[31mab\u001B[39mc…');
  });
});

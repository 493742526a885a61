import { expect, it } from 'vitest';
import { columnsOf } from './columns.ts';

it.each([
  [120, 120],
  [0, 80],
  [undefined, 80],
])('a terminal that says %s columns is drawn in %i', (columns, drawn) => {
  expect(columnsOf(columns === undefined ? {} : { columns })).toBe(drawn);
});

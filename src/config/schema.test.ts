import { expect, it } from 'vitest';
import { parseDuration } from './amounts.ts';
import { configJsonSchema, configSchema } from './schema.ts';

it.each<[string | number, number]>([
  [90, 90_000],
  ['90', 90_000],
  ['90s', 90_000],
  [' 90 s ', 90_000],
  [0.5, 500],
  ['500ms', 500],
  ['1.5m', 90_000],
  ['2h', 7_200_000],
  ['0.001s', 1],
])('%j is a duration of %i ms', (value, ms) => {
  expect(parseDuration(value)).toBe(ms);
});

it.each([
  0,
  -1,
  NaN,
  Infinity,
  1e300,
  '',
  ' ',
  's',
  '0s',
  '0.0001s',
  '-5m',
  '5 minutes',
  '1h30m',
  '5M',
  '1e3',
  '.5s',
  '1_000',
  '99999999999999999h',
])('%j is not a duration', (value) => {
  expect(parseDuration(value)).toBeUndefined();
});

it('the schema for editors has every setting', () => {
  const schema = configJsonSchema() as { properties: object; additionalProperties: boolean; required?: string[] };
  expect(Object.keys(schema.properties)).toEqual(Object.keys(configSchema.shape));
  expect(schema.additionalProperties).toBe(false);
  expect(schema.required).toBeUndefined();
});

it("an empty entry of the allowlist is left to the allowlist's own parser", () => {
  const { workers } = configSchema.parse({ workers: { container: { allow: ['*', ''] } } });
  expect(workers.container.allow).toEqual(['*', '']);
  expect(JSON.stringify(configJsonSchema())).toContain('"items":{"type":"string","minLength":1}');
});

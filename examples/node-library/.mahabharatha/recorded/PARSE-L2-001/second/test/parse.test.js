import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from '../src/parse.js';

test('a duration is the sum of its parts', () => {
  assert.equal(parseDuration('1h 30m'), 5_400_000);
  assert.equal(parseDuration('90m'), 5_400_000);
});

test('a part of a unit counts', () => {
  assert.equal(parseDuration('1.5h'), 5_400_000);
});

test('a text with another unit, or without any, is refused', () => {
  assert.throws(() => parseDuration('3 weeks'), /"3 weeks" is no duration: there is no unit "weeks"/);
  assert.throws(() => parseDuration('soon'), /"soon" is no duration/);
});

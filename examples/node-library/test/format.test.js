import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration } from '../src/index.js';

test('a duration is written with its largest units first', () => {
  assert.equal(formatDuration(5_400_000), '1h 30m');
  assert.equal(formatDuration(61_000), '1m 1s');
  assert.equal(formatDuration(0), '0s');
});

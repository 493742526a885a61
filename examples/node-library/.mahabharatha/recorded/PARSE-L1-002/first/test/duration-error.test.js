import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DurationError } from '../src/duration-error.js';

test('the error says which text it is about, and why', () => {
  const error = new DurationError('soon', 'it has no number');
  assert.equal(error.message, '"soon" is no duration: it has no number');
  assert.equal(error.text, 'soon');
});

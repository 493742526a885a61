import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokensOf } from '../src/tokens.js';

test('a text is cut into numbers and units, with and without blanks', () => {
  assert.deepEqual(tokensOf('1h 30m'), [
    ['1', 'h'],
    ['30', 'm'],
  ]);
  assert.deepEqual(tokensOf('1.5h30m'), [
    ['1.5', 'h'],
    ['30', 'm'],
  ]);
});

test('any other text has no tokens', () => {
  for (const text of ['', 'h', '30', 'soon', '1h and a half']) assert.equal(tokensOf(text), null);
});

import { expect, it } from 'vitest';
import { wantsColor } from './colors.ts';

it.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '0' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '' }, false, true],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: 'true', TERM: 'dumb' }, false, true],
  [{ FORCE_COLOR: '3', NO_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: 'false' }, true, false],
  [{ FORCE_COLOR: 'no' }, true, false],
])('with %o and a terminal: %s, output has colours: %s', (env, isTerminal, colors) => {
  expect(wantsColor(env, isTerminal)).toBe(colors);
});

import { DurationError } from './duration-error.js';
import { tokensOf } from './tokens.js';
import { UNITS } from './units.js';

/** "1h 30m" is 5400000 milliseconds. Throws DurationError. */
export function parseDuration(text) {
  const tokens = tokensOf(text);
  if (tokens === null) throw new DurationError(text, 'it must be numbers with units, as in 1h 30m');
  return tokens.reduce((sum, [number, unit]) => sum + Number(number) * lengthOf(unit, text), 0);
}

function lengthOf(unit, text) {
  const found = UNITS.find(([name]) => name === unit);
  if (found === undefined) throw new DurationError(text, `there is no unit "${unit}"`);
  return found[1];
}

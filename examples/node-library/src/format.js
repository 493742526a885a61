import { UNITS } from './units.js';

/** 5400000 is "1h 30m". What is less than a second is left out. */
export function formatDuration(ms) {
  const parts = [];
  let rest = ms;
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * length;
  }
  return parts.length === 0 ? '0s' : parts.join(' ');
}

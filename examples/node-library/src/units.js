/** Largest first, with their length in milliseconds. */
export const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

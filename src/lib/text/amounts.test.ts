import { describe, expect, it } from 'vitest';
import { inBytes, inClock, inDuration, inSeconds } from './amounts.ts';

describe('in words', () => {
  it.each([
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1.5 * 1024 ** 2, '1.5 MiB'],
    [512 * 1024 ** 2, '512 MiB'],
    [1024 ** 3 - 1, '1024 MiB'],
    [1024 ** 3, '1 GiB'],
    [7.54 * 1024 ** 3, '7.5 GiB'],
    [3000 * 1024 ** 4, '3000 TiB'],
  ])('%s bytes are %s', (bytes, words) => {
    expect(inBytes(bytes)).toBe(words);
  });

  it.each([
    [0, '0 s'],
    [250, '0.25 s'],
    [1500, '1.5 s'],
    [95_449, '95.4 s'],
    [900_000, '900 s'],
  ])('a limit of %s ms is %s', (ms, words) => {
    expect(inSeconds(ms)).toBe(words);
  });

  it.each([
    [-5, '0 s'],
    [59_000, '59 s'],
    [123_000, '2 min 3 s'],
    [5 * 3_600_000 + 600_000, '5 h 10 min'],
  ])('a time of %s ms is %s', (ms, words) => {
    expect(inDuration(ms)).toBe(words);
  });

  it.each([
    [-5, '0:00'],
    [45_900, '0:45'],
    [723_000, '12:03'],
    [3_723_000, '1:02:03'],
    [360_000_000, '100:00:00'],
  ])('a clock shows %s ms as %s', (ms, words) => {
    expect(inClock(ms)).toBe(words);
  });
});

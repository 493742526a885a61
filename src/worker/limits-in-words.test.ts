import { expect, it } from 'vitest';
import type { Exceeded } from '../supervise/index.ts';
import { limitsInWords } from './limits-in-words.ts';

const bytes = 4 * 1024 ** 3;

it.each<[Exceeded, string]>([
  [{ limit: 'memory', bytes, certain: true }, "a process was killed: the worker's memory of 4 GiB was used up"],
  [{ limit: 'memory', bytes: undefined, certain: true }, "a process was killed: the worker's memory was used up"],
  [{ limit: 'memory', bytes, certain: false }, "it was killed: perhaps the worker's memory of 4 GiB was used up"],
  [
    { limit: 'processes', most: 64 },
    "processes could not be started: the worker's limit of 64 (workers.container.pids) was reached",
  ],
  [{ limit: 'file-size', bytes: undefined }, "a file was made larger than the worker's disk (workers.container.disk)"],
])('a limit that was met is named with its setting: %j', (met, words) => {
  expect(limitsInWords([met])).toBe(words);
});

it('several limits are named one after the other, and none is undefined', () => {
  const both = limitsInWords([
    { limit: 'memory', bytes: undefined, certain: true },
    { limit: 'processes', most: undefined },
  ]);
  expect(both).toMatch(/^a process was killed: .* was used up; processes could not be started: .* was reached$/);
  expect(limitsInWords([])).toBeUndefined();
});

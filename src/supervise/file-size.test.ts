import { expect, it } from 'vitest';
import { fileSizeTrouble } from './file-size.ts';

const LIMITS =
  'Limit    Soft Limit   Hard Limit   Units\nMax file size             67108864             67108864             bytes\n';

it.each([
  ['a signal', { code: null, signal: 'SIGXFSZ' }],
  ['the exit status of a shell', { code: 153, signal: null }],
])('a file that got too large is told by %s, and then with the limit', (_, end) => {
  expect(fileSizeTrouble(end, LIMITS)).toBe(
    "a file was made larger than the worker's disk of 64 MiB (workers.container.disk)",
  );
  expect(fileSizeTrouble(end, '')).toContain("the worker's disk (workers");
});

it.each([
  { code: 1, signal: null },
  { code: null, signal: 'SIGKILL' },
])('another end has nothing to do with it: %j', (end) => {
  expect(fileSizeTrouble(end, LIMITS)).toBeUndefined();
});

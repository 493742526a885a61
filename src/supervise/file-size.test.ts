import { expect, it } from 'vitest';
import { fileSizeExceeded } from './file-size.ts';

const LIMITS =
  'Limit    Soft Limit   Hard Limit   Units\nMax file size             67108864             67108864             bytes\n';

it.each([
  ['a signal', { code: null, signal: 'SIGXFSZ' }],
  ['the exit status of a shell', { code: 153, signal: null }],
])('a file that became too large is recognised by %s, and the system says the limit', (_, end) => {
  expect(fileSizeExceeded(end, LIMITS)).toEqual({ limit: 'file-size', bytes: 64 * 1024 ** 2 });
  expect(fileSizeExceeded(end, '')).toEqual({ limit: 'file-size', bytes: undefined });
});

it.each([
  { code: 1, signal: null },
  { code: null, signal: 'SIGKILL' },
])('another end is not taken for it: %j', (end) => {
  expect(fileSizeExceeded(end, LIMITS)).toBeUndefined();
});

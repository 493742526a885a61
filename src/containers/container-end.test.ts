import { describe, expect, it } from 'vitest';
import { containerEnd } from './container-end.ts';

const MEMORY = 512 * 1024 ** 2;
const end = (code: number | null, more: { oomKilled?: boolean; overLimit?: string } = {}): unknown =>
  containerEnd({ code, oomKilled: more.oomKilled ?? false }, { overLimit: more.overLimit, memoryBytes: MEMORY });

describe('the end of a container', () => {
  it.each([
    [0, { code: 0, signal: null }],
    [1, { code: 1, signal: null }],
    [128, { code: 128, signal: null }],
    [137, { code: null, signal: 'SIGKILL' }],
    [143, { code: null, signal: 'SIGTERM' }],
    [255, { code: 255, signal: null }],
    [null, { code: null, signal: null }],
  ])('with status %s is %o', (code, expected) => {
    expect(end(code)).toEqual(expected);
  });

  it('over a limit has the words of that limit, also when its memory was used up as well', () => {
    expect(end(137, { oomKilled: true, overLimit: 'killed: too much' })).toEqual({
      code: null,
      signal: 'SIGKILL',
      overLimit: 'killed: too much',
    });
  });

  it('by the kernel, because the memory was used up, says how much there was', () => {
    expect(end(137, { oomKilled: true })).toEqual({
      code: null,
      signal: 'SIGKILL',
      overLimit: 'killed: its memory of 512 MiB was used up',
    });
  });

  it('is no such end when the kernel killed another process in it, and the worker went on', () => {
    expect(end(0, { oomKilled: true })).toEqual({ code: 0, signal: null });
    expect(end(143, { oomKilled: true })).toEqual({ code: null, signal: 'SIGTERM' });
  });
});

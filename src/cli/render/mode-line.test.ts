import { describe, expect, it } from 'vitest';
import type { ModeLine } from '../../project/index.ts';
import { modeTeller, modeText } from './mode-line.ts';

const container: ModeLine = { name: 'container', wished: 'auto', because: 'an engine is there' };
const subprocess: ModeLine = { name: 'subprocess', wished: 'subprocess', because: '--mode says so' };

describe('the first line of a run', () => {
  it('is the mode and why; below it stands what the mode does not protect from', () => {
    expect(String(modeText(container, []))).toBe('mode auto: container, because an engine is there\n');
    expect(String(modeText(subprocess, ['a', 'b']))).toBe('mode subprocess, because --mode says so\n  a\n  b\n');
  });

  it('is an event for programs, and is printed once', () => {
    const told: string[] = [];
    const tell = modeTeller({ out: (text) => void told.push(String(text)) }, true);
    tell(container, []);
    tell(subprocess, []);
    expect(told.map((line) => JSON.parse(line) as object)).toEqual([
      {
        at: expect.any(String),
        type: 'mode',
        mode: 'container',
        wished: 'auto',
        because: 'an engine is there',
        unprotected: [],
      },
    ]);
  });
});

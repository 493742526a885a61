import { describe, expect, it } from 'vitest';
import type { AgentSpec } from '../../protocol/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { ModeLine } from '../../project/index.ts';
import { modeTeller, modeText, unprotectedLines } from './mode-line.ts';

const container: ModeLine = { name: 'container', wished: 'auto', because: 'an engine is there' };
const subprocess: ModeLine = { name: 'subprocess', wished: 'subprocess', because: '--mode says so' };
const claude = { kind: 'claude', command: 'claude', model: null, args: [] } satisfies AgentSpec;
const graph = (run: string | null): TaskGraph => ({ tasks: [{ run }] }) as unknown as TaskGraph;

describe('the first line of a run', () => {
  it('is its mode and why, and below it what that does not protect from', () => {
    expect(String(modeText(container, []))).toBe('mode auto: container, because an engine is there\n');
    expect(String(modeText(subprocess, ['a', 'b']))).toBe('mode subprocess, because --mode says so\n  a\n  b\n');
  });

  it('is an event for programs, and is told once', () => {
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

describe('what a run does not protect from', () => {
  it('is nothing to be said of containers', () => {
    expect(unprotectedLines(container, claude, graph(null))).toEqual([]);
  });

  it('is said of subprocesses, with the permissions of Claude Code when a task is for it', () => {
    expect(unprotectedLines(subprocess, claude, graph('true'))).toEqual([expect.stringContaining('your own rights')]);
    expect(unprotectedLines(subprocess, { kind: 'shell' }, graph(null))).toHaveLength(1);
    const [, permissions] = unprotectedLines(subprocess, claude, graph(null));
    expect(permissions).toContain('--dangerously-skip-permissions');
  });
});

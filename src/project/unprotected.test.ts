import { describe, expect, it } from 'vitest';
import type { AgentSpec } from '../protocol/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { ModeLine } from './decide-mode.ts';
import { unprotectedLines } from './decide-mode.ts';

const container: ModeLine = { name: 'container', wished: 'auto', because: 'an engine is there' };
const subprocess: ModeLine = { name: 'subprocess', wished: 'subprocess', because: '--mode says so' };
const claude = { kind: 'claude', command: 'claude', model: null, args: [] } satisfies AgentSpec;
const graph = (run: string | null): TaskGraph => ({ tasks: [{ run }] }) as unknown as TaskGraph;

describe('what a run does not protect from', () => {
  it('is nothing when workers are in containers', () => {
    expect(unprotectedLines(container, claude, graph(null))).toEqual([]);
  });

  it('is said for subprocesses, with the permissions of Claude Code when a task needs it', () => {
    expect(unprotectedLines(subprocess, claude, graph('true'))).toEqual([expect.stringContaining('your own rights')]);
    expect(unprotectedLines(subprocess, { kind: 'shell' }, graph(null))).toHaveLength(1);
    const [, permissions] = unprotectedLines(subprocess, claude, graph(null));
    expect(permissions).toContain('--dangerously-skip-permissions');
  });
});

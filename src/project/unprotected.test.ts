import { describe, expect, it } from 'vitest';
import type { ModeLine } from './decide-mode.ts';
import type { UsedAgent } from './run-agents.ts';
import { unprotectedLines } from './unprotected.ts';

const container: ModeLine = { name: 'container', wished: 'auto', because: 'an engine is there' };
const subprocess: ModeLine = { name: 'subprocess', wished: 'subprocess', because: '--mode says so' };
const used = (kind: 'claude' | 'codex'): UsedAgent => ({
  spec: { kind, command: kind, model: null, args: [] },
  tasks: ['T-1'],
  models: [null],
});

describe('what a run does not protect from', () => {
  it('is nothing when workers are in containers', () => {
    expect(unprotectedLines(container, [used('claude')])).toEqual([]);
  });

  it('is said for subprocesses, with the permissions of each agent that a task needs', () => {
    expect(unprotectedLines(subprocess, [])).toEqual([expect.stringContaining('your own rights')]);
    expect(unprotectedLines(subprocess, [{ spec: { kind: 'shell' }, tasks: ['T-1'], models: [] }])).toHaveLength(1);
    expect(unprotectedLines(subprocess, [used('claude'), used('codex')])).toEqual([
      expect.any(String),
      'Claude Code is started with --dangerously-skip-permissions: it does everything without asking.',
      'Codex is started with --dangerously-bypass-approvals-and-sandbox: it does everything without asking.',
    ]);
  });
});

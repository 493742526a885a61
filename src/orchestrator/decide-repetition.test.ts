import { describe, expect, it } from 'vitest';
import { commit, createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';
import { repeatsInVain } from './decide-repetition.ts';

const GIVEN_UP = 'record task-failed A its command has failed twice on the same commit; last: exit status 1';

/** Returns what is decided after so many attempts have failed. */
function failing(world: World, times: number): string {
  for (let time = 0; time < times; time++) {
    expect(world.settle()).toContain('assign A.');
    world.reports(0, { outcome: 'agent-failed', detail: 'exit status 1', commit: null });
  }
  return world.settle();
}

describe('a task that is done by a command', () => {
  it('is repeated once on the same commit, whatever retry.attempts allows', () => {
    const world = createWorld([{ id: 'A', run: 'make a' }], {}, { attempts: 9 });
    expect(failing(world, 2)).toContain(GIVEN_UP);
  });

  it('is not repeated where retry.attempts is 1', () => {
    const world = createWorld([{ id: 'A', run: 'make a' }], {}, { attempts: 1 });
    expect(failing(world, 1)).toContain('record task-failed A failed 1 of 1 times; last: exit status 1');
  });

  it('has as many tries again when the user asks for them', () => {
    const world = createWorld([{ id: 'A', run: 'make a' }, { id: 'B' }], { workers: 2 }, { attempts: 9 });
    expect(failing(world, 2)).toContain(GIVEN_UP);
    world.retry('A');
    expect(world.turn()).toContain('record task-reset A');
    expect(failing(world, 2)).toContain(GIVEN_UP);
  });

  it('is tried again at no charge when its worker died', () => {
    const world = createWorld([{ id: 'A', run: 'make a' }], { workers: 1 }, { attempts: 9 });
    expect(failing(world, 1)).toContain('assign A.2');
    world.dies(0);
    expect(world.settle()).toContain('assign A.3');
    world.reports(0, { outcome: 'agent-failed', detail: 'exit status 1', commit: null });
    expect(world.settle()).toContain(GIVEN_UP);
  });

  it('is tried again on another commit: what was merged meanwhile may be what it needs', () => {
    const settings = createWorld([{ id: 'A' }]).state.settings;
    const attempt = { number: 1, worker: 0, verifier: null, begun: 0, startedAt: '', endedAt: '', detail: '' };
    const failed = { ...attempt, outcome: 'agent-failed', commit: null, usage: null } as const;
    const attempts = [commit('one'), commit('one'), commit('two')].map((base) => ({ ...failed, base }));
    const inVain = (tip: string): boolean =>
      repeatsInVain(
        { settings, integrationTip: commit(tip) },
        { agent: null, run: 'make a' },
        { attempts, failures: 3 },
      );
    expect([inVain('one'), inVain('two'), inVain('three')]).toEqual([true, false, false]);
  });

  it('is none whose own agent does it, in a run whose agent is for commands alone', () => {
    const { settings } = createWorld([{ id: 'A' }]).state;
    const task = { agent: 'codex', run: null };
    const state = { settings: { ...settings, agent: 'shell' }, integrationTip: commit('one') };
    const attempt = { number: 1, worker: 0, verifier: null, begun: 0, startedAt: '', endedAt: '', detail: '' };
    const failed = { ...attempt, outcome: 'agent-failed', commit: null, usage: null, base: commit('one') } as const;
    expect(repeatsInVain(state, task, { attempts: [failed, failed], failures: 2 })).toBe(false);
  });

  it('is tried again after red gates when the work of others is merged, which may be what it needs', () => {
    const tasks = [{ id: 'A', run: 'make a' }, { id: 'B' }];
    const gates = [{ name: 'test', command: 'npm test', required: true, timeoutMs: 1000 }];
    const world = createWorld(tasks, { workers: 1, gates }, { attempts: 9 });
    expect(failing(world, 1)).toContain('assign A.2');
    for (const _ of tasks) {
      world.reports(0, {});
      world.settle();
    }
    const decided: string[] = [];
    while (world.state.tasks['A']?.attempts.length === 2) {
      const count = world.state.levels['1']?.gateRun?.count ?? 0;
      world.gatesAre(count > 0 && world.state.tasks['A']?.status === 'complete' ? 'red' : 'green', 0);
      decided.push(world.settle());
    }
    expect(decided.join('\n')).toMatch(/gate-failed[^]*publish level 1[^]*assign A\.3/);
  });

  it('differs from one for an agent, which has feedback in its next prompt', () => {
    const world = createWorld([{ id: 'A' }], {}, { attempts: 3 });
    expect(failing(world, 2)).toContain('assign A.3');
  });
});

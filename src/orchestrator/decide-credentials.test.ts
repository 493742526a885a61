import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';

/** Why a worker has to go that no agent can work on. */
const CAUSE = 'it cannot be given credentials, as it was started by an orchestrator that is gone or out of reach';

describe('a worker that cannot be given credentials', () => {
  it('finishes what it has, and is replaced once it is idle and a task waits that asks an agent', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B', level: 2 }], { workers: 1 });
    world.settle();
    world.says(0, { takesCredentials: false });
    expect(world.settle()).toBe('');
    world.reports(0, { commit: null, outcome: 'verified' });
    world.says(0, { takesCredentials: false });
    expect(world.settle()).toContain(
      [
        `kill-worker 0: ${CAUSE}`,
        `start-worker 0: more ready work than free workers; its last life: ${CAUSE}`,
        'assign B.1 to 0 on',
      ].join('\n'),
    );
  });

  it('does tasks that ask no agent', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B', level: 2, run: 'make' }], { workers: 1 });
    world.settle();
    world.reports(0, { commit: null });
    world.says(0, { takesCredentials: false });
    expect(world.settle()).toMatch(/^assign B\.1 to 0 on .*: ready$/m);
  });

  it('stays while another worker can do the task, or can be started for it', () => {
    const tasks = ['A', 'B', 'C'].map((id) => ({ id, level: id === 'A' ? 1 : 2 }));
    const world = createWorld(tasks, { workers: 3 });
    world.settle();
    world.reports(0, { commit: null });
    world.says(0, { takesCredentials: false });
    const said = world.settle();
    expect(said).not.toContain('kill-worker');
    expect(said).toMatch(/start-worker 1: .*\nassign B\.1 to 1 .*\nstart-worker 2: .*\nassign C\.1 to 2 /);
  });

  it('gets a task with a command, also while a longer task waits for an agent', () => {
    const tasks = [
      { id: 'A', level: 1 },
      { id: 'B', level: 1 },
      { id: 'C', level: 2, minutes: 9 },
      { id: 'D', level: 2, minutes: 1, run: 'make' },
    ];
    const world = createWorld(tasks, { workers: 2 });
    world.settle();
    for (const worker of [0, 1]) {
      world.reports(worker, { commit: null });
      world.says(worker, { takesCredentials: false });
    }
    const said = world.settle();
    expect(said.match(/kill-worker|assign \S+ to \d/g)?.slice(-3)).toEqual([
      'kill-worker',
      'assign D.1 to 1',
      'assign C.1 to 0',
    ]);
  });
});

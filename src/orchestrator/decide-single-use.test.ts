import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { WorldTask } from '../../test/support/decision-world.ts';

const GATE = { name: 'test', command: 'x', required: true, timeoutMs: 1 };

const singleUse = { singleUse: true };

const commands = (...ids: string[]): WorldTask[] => ids.map((id) => ({ id, run: 'x' }));

describe('the next worker of a place', () => {
  it('begins under the other number while the one before it is removed, and its result is weighed after that', () => {
    const world = createWorld(commands('A', 'B', 'C'), { workers: 1 }, singleUse);
    world.settle();
    world.reports(0, {});
    const said = world.settle();
    expect(said).toMatch(/^retire-worker 0: it has done its assignment\nstart-worker 1: .*\nassign B.1 to 1/);
    expect(said).not.toContain('accepted');
    expect(world.state.tasks['A']?.status).toBe('running');
    world.reports(1, {});
    expect(world.settle()).toBe('retire-worker 1: it has done its assignment');
    world.isRemoved(0);
    expect(world.settle()).toMatch(/record attempt-accepted A 1 0[^]*start-worker 0: .*\nassign C.1 to 0/);
  });

  it.each([
    ['an agent, which may have cost too much', [{ id: 'A' }, { id: 'B' }], {}],
    [
      'a task whose verification comes before new work',
      [
        { id: 'A', run: 'x', verify: 'y' },
        { id: 'B', run: 'x' },
      ],
      { verifyAfresh: true },
    ],
  ])('waits for the result of %s', (_what, tasks, policy) => {
    const world = createWorld(tasks, { workers: 1 }, { ...singleUse, ...policy });
    world.settle();
    world.reports(0, {});
    expect(world.settle()).toBe('retire-worker 0: it has done its assignment');
  });

  it('begins while a verification is removed', () => {
    const tasks = [{ id: 'A', run: 'x', verify: 'y' }, ...commands('B')];
    const world = createWorld(tasks, { workers: 1 }, { ...singleUse, verifyAfresh: true });
    world.settle();
    world.reports(0, {});
    world.settle();
    world.isRemoved(0);
    expect(world.settle()).toContain('verify A.1 on 0');
    world.verifies(0, { ok: true });
    expect(world.settle()).toMatch(/^retire-worker 0: .*\nstart-worker 1: .*\nassign B.1 to 1/);
    world.isRemoved(0);
    expect(world.settle()).toContain('record attempt-accepted A 1 0');
  });

  it('is the only one where workers live on', () => {
    const world = createWorld(commands('A', 'B'), { workers: 1 });
    world.settle();
    expect(Object.keys(world.state.workers)).toEqual(['0']);
    world.reports(0, {});
    expect(world.settle()).toContain('assign B.1 to 0');
  });

  it('does not begin beside one that is at work', () => {
    const world = createWorld(commands('A', 'B', 'C'), { workers: 2 }, singleUse);
    world.settle();
    expect(Object.keys(world.state.workers)).toEqual(['0', '1']);
    expect(world.settle()).toBe('');
  });
});

describe('a worker for a single use', () => {
  it('is ended when it reports, and its result is weighed when it is gone', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 }, singleUse);
    world.settle();
    world.reports(0, {});
    expect(world.settle()).toBe('retire-worker 0: it has done its assignment');
    world.isRemoved(0);
    expect(world.turn()).toMatch(/^record attempt-accepted A 1 0/);
    expect(world.turn()).toBe('record worker-exited 0 true it has done its assignment');
    expect(world.state.workers[0]?.status).toBe('STOPPED');
  });

  it('is followed by a new one on the same number for the next task, on a fresh worktree', () => {
    const tasks = [{ id: 'A' }, { id: 'B' }];
    const world = createWorld(tasks, { workers: 1 }, singleUse);
    world.settle();
    world.reports(0, { outcome: 'verification-failed' });
    world.settle();
    world.isRemoved(0);
    const said = world.settle();
    expect(said).toContain('start-worker 0: more ready work than free workers\nassign A.2 to 0');
    expect(said).not.toContain('afresh');
  });

  it('is not ended for a result of another attempt than its own', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }], { workers: 2 }, singleUse);
    world.settle();
    world.says(0, { attempt: 'B.1' });
    world.reports(0, {});
    expect(world.settle()).not.toContain('retire-worker');
    expect(world.state.tasks['B']?.status).toBe('running');
  });

  it('runs gates in one life, and what it said of them counts after its end', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1, gates: [GATE] }, singleUse);
    world.settle();
    world.reports(0, {});
    world.settle();
    world.isRemoved(0);
    expect(world.settle()).toContain('run-gates of level 1 with 1 tasks on 0');
    world.gatesAre('green', 0);
    expect(world.settle()).toBe('retire-worker 0: it has done its assignment');
    world.isRemoved(0);
    expect(world.settle()).toContain('record gates-passed 1');
    expect(world.state.status).toBe('complete');
  });

  it('is not killed a second time when it could not run gates, or could not work any more', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1, gates: [GATE], mode: 'container' }, singleUse);
    world.settle();
    world.reports(0, { outcome: 'worker-error', detail: 'no room' });
    world.settle();
    world.isRemoved(0);
    expect(world.settle()).not.toContain('kill-worker');
    world.reports(0, {});
    world.settle();
    world.isRemoved(0);
    world.settle();
    world.gatesCannotRun(0, 'git failed');
    world.settle();
    world.isRemoved(0);
    const said = world.settle();
    expect(said).toContain('record gates-lost');
    expect(said).not.toContain('kill-worker');
  });

  it('that dies at work is lost as any other', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 }, singleUse);
    world.settle();
    world.dies(0);
    expect(world.settle()).toMatch(/record attempt-failed A 1 0 lost worker 0 died at work: killed by SIGKILL/);
  });
});

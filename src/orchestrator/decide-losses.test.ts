import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';
import type { WorkerExit } from '../launchers/index.ts';
import { endOfExit } from './decide-losses.ts';

describe('an attempt that says that its orchestrator was gone', () => {
  it('counts as a lost worker when this orchestrator has begun it and was not away, so that it cannot repeat without end', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    const said: string[] = [];
    for (let tries = 0; tries < 5 && world.state.status === 'running'; tries += 1) {
      world.reports(0, { outcome: 'orphaned', detail: 'stopped before it was done', commit: null });
      said.push(world.settle());
    }
    expect(said[0]).toContain('record attempt-failed A 1 0 orphaned stopped before it was done loss');
    expect(said).toHaveLength(3);
    expect(world.state.tasks['A']).toMatchObject({ status: 'failed', failures: 0, losses: 3 });
  });

  it('costs nothing when an orchestrator was gone meanwhile, or when the run is to end', () => {
    for (const end of ['left alone', 'stopped'] as const) {
      const world = createWorld([{ id: 'A' }], { workers: 1 });
      world.settle();
      world.reports(0, { outcome: 'orphaned', detail: 'stopped before it was done', commit: null });
      if (end === 'left alone') world.says(0, { orchestratorAway: true });
      else world.stop(130, 'asked to');
      expect(world.turn()).toContain('orphaned stopped before it was done nothing');
      expect(world.state.tasks['A']).toMatchObject({ failures: 0, losses: 0 });
    }
  });
});

it('a worker that is gone when its run is resumed costs its task nothing: it was left alone', () => {
  const world = createWorld([{ id: 'A' }], { workers: 1 });
  world.settle();
  world.dies(0, 'it is gone');
  world.says(0, { orchestratorAway: true });
  expect(world.settle()).toContain('record attempt-failed A 1 0 lost worker 0 died at work: it is gone nothing');
  expect(world.state.tasks['A']).toMatchObject({ status: 'running', losses: 0 });
});

describe('a worker that is lost while the run is to end', () => {
  it('costs its task nothing, as when it could not be started for want of descriptors', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    world.dies(0, 'it could not be started: too many open files');
    world.stop(4, 'too many open files');
    world.settle();
    expect(world.state.tasks['A']).toMatchObject({ status: 'pending', failures: 0, losses: 0 });
    expect(world.state).toMatchObject({ status: 'stopped', cause: 'too many open files' });
  });

  it('costs its task a try all the same when it went over a limit of its own', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    world.says(0, { alive: false, exit: 'too much', overLimit: true });
    world.stop(4, 'too many open files');
    world.settle();
    expect(world.state.tasks['A']).toMatchObject({ failures: 1, losses: 0 });
  });
});

it.each<[string, WorkerExit, string]>([
  ['an exit status', { code: 7, signal: null }, 'ended with exit status 7'],
  ['a signal', { code: null, signal: 'SIGKILL' }, 'killed by SIGKILL'],
  ['an end that was not seen', { code: null, signal: null }, 'it ended, and how is not known'],
  ['a limit, whatever the exit', { code: 137, signal: 'SIGKILL', overLimit: '9 GiB written' }, '9 GiB written'],
])('the words for a worker that ended with %s', (_what, exit, how) => {
  expect(endOfExit(exit)).toEqual({ how, overLimit: exit.overLimit !== undefined });
});

it.each([
  ['died', (world: World) => world.dies(0), 'killed by SIGKILL'],
  [
    'was killed as it fell silent',
    (world: World) => world.says(0, { silentMs: 6000 }),
    'no heartbeat for 6 s, limit 5 s',
  ],
  [
    'was killed for its status',
    (world: World) => world.says(0, { unreadable: 'no JSON' }),
    'its status cannot be used: no JSON',
  ],
])('the loss of a worker that %s has its reason in words', (_how, happens, reason) => {
  const world = createWorld([{ id: 'A' }], { workers: 1 });
  world.settle();
  happens(world);
  expect(world.settle()).toContain(`record attempt-failed A 1 0 lost worker 0 died at work: ${reason} loss`);
});

import { expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { RecordedEvent, RunState } from '../state/index.ts';
import { reduce } from './reduce.ts';

const started = (session: string): RecordedEvent => ({
  at: '2026-01-01T00:00:00.000Z',
  type: 'worker-started',
  worker: 0,
  session,
  pid: 7,
  containerId: null,
  handle: { session },
});

const pidAfter = (state: RunState, session: string): unknown => reduce(state, started(session)).workers[0]?.pid;

it('a start that ends after its worker was given up does not count for the next session of that number', () => {
  const world = createWorld([{ id: 'A' }]);
  world.settle();
  expect(pidAfter(world.state, 'a life before')).toBeNull();
  expect(pidAfter(world.state, world.state.workers[0]?.session ?? '')).toBe(7);
});

it('a failed run whose tasks get new tries is no longer failed: it is to be resumed', () => {
  const world = createWorld([{ id: 'A' }], { workers: 1 }, { attempts: 1 });
  world.settle();
  world.reports(0, { outcome: 'verification-failed' });
  world.settle();
  const reset = { at: '2026-01-01T00:00:00.000Z', type: 'task-reset', task: 'A', cause: 'asked to retry' } as const;
  expect(world.state.status).toBe('failed');
  expect(reduce(world.state, reset)).toMatchObject({ status: 'stopped', cause: expect.stringContaining('--resume') });
  expect(reduce({ ...world.state, status: 'running' }, reset)).toMatchObject({ status: 'running' });
});

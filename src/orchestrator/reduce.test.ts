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

import { expect, it } from 'vitest';
import type { RunState } from '../state/index.ts';
import { checkTarget } from './shell-place.ts';

const state = {
  feature: 'login',
  workers: { 0: { task: null } },
  tasks: { A: { attempts: [] } },
} as unknown as RunState;

it.each(['B', 'constructor', 'toString', '__proto__'])('there is no task %s, whatever names objects have', (target) => {
  expect(() => checkTarget(state, target)).toThrow(expect.objectContaining({ code: 'TASK_UNKNOWN' }));
});

it('a task and a worker of the run may be named', () => {
  for (const target of ['A', '0']) expect(() => checkTarget(state, target)).not.toThrow();
});

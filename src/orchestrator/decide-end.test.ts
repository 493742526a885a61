import { expect, it } from 'vitest';
import { createWorld, EMPTY_VIEW, graphOf, POLICY } from '../../test/support/decision-world.ts';
import type { WorldTask } from '../../test/support/decision-world.ts';
import { decideEnd } from './decide-end.ts';
import { formatActions } from './plan.ts';
import type { FinishAction, WorkerView } from './plan.ts';
import type { RunState } from '../state/index.ts';

const TASKS: readonly WorldTask[] = [{ id: 'A' }];
const STOP: FinishAction = { kind: 'finish', status: 'stopped', exit: 130, cause: 'Ctrl-C', resumeAt: null };
const NO_WORK = { kind: 'task', feedback: '', commit: null, usage: null, resetAt: null } as const;
const NOTHING_SEEN = { fault: null, isGone: false, changed: [], embedded: [], checkout: null };

/** What is recorded when the worker at A.1 has ended in this way. */
function recorded(state: RunState, view: Partial<WorkerView>, retries: readonly string[] = []): string {
  const workers = new Map([[0, { ...EMPTY_VIEW, alive: false, exit: 'killed by SIGTERM', ...view }]]);
  const rest = { now: 0, policy: POLICY, spares: null, merging: false, waits: new Map(), retries, stop: null };
  return formatActions(decideEnd({ ...rest, state, graph: graphOf(TASKS), workers }, STOP));
}

const EXITED = 'record worker-exited 0 true the run is stopped';
const result = (outcome: 'interrupted' | 'orphaned' | 'idle' | 'credentials'): Partial<WorkerView> => ({
  result: { ...NO_WORK, ...NOTHING_SEEN, attempt: 'A.1', outcome, detail: 'as it says' },
});

it.each<[string, Partial<WorkerView>, string]>([
  ['without a result', {}, 'record attempt-failed A 1 0 interrupted stopped before it was done nothing'],
  [
    'beyond a limit as it was stopped',
    { overLimit: true },
    'record attempt-failed A 1 0 interrupted stopped before it was done The last attempt was ended: killed by SIGTERM nothing',
  ],
  [
    'as it was asked to',
    result('interrupted'),
    'record attempt-failed A 1 0 interrupted stopped before it was done nothing',
  ],
  [
    'without its orchestrator',
    result('orphaned'),
    'record attempt-failed A 1 0 interrupted stopped before it was done nothing',
  ],
  ['with a failure of its own', result('idle'), 'record attempt-failed A 1 0 idle as it says  failure'],
])('a worker that ended %s, while the run ends', (_how, view, expected) => {
  const world = createWorld(TASKS, { workers: 1 });
  world.settle();
  expect(recorded(world.state, view)).toBe(`${expected}\n${EXITED}`);
});

it('gates that are under way at the end have no result, and that is not charged', () => {
  const world = createWorld(TASKS, {
    workers: 1,
    gates: [{ name: 'test', command: 'npm test', required: true, timeoutMs: 1000 }],
  });
  world.settle();
  world.reports(0, {});
  world.settle();
  expect(recorded(world.state, {})).toBe(`${EXITED}\nrecord gates-lost 1 @gates-of-level-1.1 Ctrl-C`);
});

it('at the end, too, a worker is not believed about an account that was not asked', () => {
  const world = createWorld(TASKS, { workers: 1, agent: 'shell' });
  world.settle();
  const words = 'its worker says "credentials", and no agent with an account was asked: as it says';
  expect(recorded(world.state, result('credentials'))).toBe(
    `record attempt-failed A 1 0 worker-error ${words} ${words} failure\n${EXITED}`,
  );
});

it('a failed task gets new tries for the next resume when that was asked for at the end', () => {
  const world = createWorld(TASKS, { workers: 1 }, { attempts: 1 });
  world.settle();
  world.reports(0, { outcome: 'agent-failed', detail: 'no', feedback: 'no' });
  world.settle();
  expect(world.state.tasks['A']?.status).toBe('failed');
  expect(recorded(world.state, {}, ['A'])).toBe(`${EXITED}\nrecord task-reset A asked to retry`);
});

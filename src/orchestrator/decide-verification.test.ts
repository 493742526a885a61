import { beforeEach, describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';

const AFRESH = { singleUse: true, verifyAfresh: true };
const USAGE = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 3 };

/** The worker reports, and is removed. */
function ends(world: World, worker: number, report: () => void): void {
  report();
  world.settle();
  world.isRemoved(worker);
}

describe('the verification of an attempt in a worker of its own', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld([{ id: 'A', verify: 'make test' }, { id: 'B' }], { workers: 2 }, AFRESH);
    world.settle();
    ends(world, 0, () => world.reports(0, {}));
  });

  it('runs on its commit, in a new worker, and only then the attempt is accepted', () => {
    const said = world.settle();
    expect(said).toContain('record attempt-verifying A 1');
    expect(said).toMatch(/start-worker 0: more ready work than free workers\nverify A\.1 on 0 at 412e31/);
    expect(world.state.tasks['A']).toMatchObject({ status: 'verifying', attempts: [{ outcome: null }] });
    ends(world, 0, () => world.verifies(0, {}));
    expect(world.settle()).toContain('record attempt-accepted A 1 0');
    expect(world.state.tasks['A']?.attempts[0]?.detail).toBe('verified by: make test');
  });

  it('alone decides when the attempt has changed nothing, and may', () => {
    const satisfied = createWorld([{ id: 'A', verify: 'make test', satisfied: true }], { workers: 1 }, AFRESH);
    satisfied.settle();
    ends(satisfied, 0, () => satisfied.reports(0, { commit: null, changed: [] }));
    expect(satisfied.settle()).toMatch(/verify A\.1 on 0 at 6261736/);
    ends(satisfied, 0, () => satisfied.verifies(0, {}));
    expect(satisfied.settle()).toContain('finish complete 0');
    const detail = 'nothing was changed, as the work was there already; verified by: make test';
    expect(satisfied.state.tasks['A']?.attempts[0]).toMatchObject({ outcome: 'accepted', detail });
  });

  it('fails the attempt with what it printed', () => {
    world.settle();
    ends(world, 0, () => world.verifies(0, { ok: false, detail: 'exit status 1', output: 'expected 2' }));
    world.settle();
    const { attempts, feedback, failures } = world.state.tasks['A'] ?? {};
    expect(attempts?.[0]).toMatchObject({ outcome: 'verification-failed', commit: expect.any(String) });
    expect(feedback).toBe('the verification "make test" failed: exit status 1\nIts output:\nexpected 2');
    expect(failures).toBe(1);
  });

  it('is done again when its worker dies: the work is kept; after too many losses the task is done again', () => {
    world.settle();
    world.dies(0);
    const said = world.settle();
    expect(said).toContain('record verification-lost A 1 loss worker 0 died: killed by SIGKILL');
    expect(said).toMatch(/verify A\.1 on 0/);
    expect(said).not.toContain('assign');
    world.dies(0);
    world.settle();
    world.dies(0);
    expect(world.settle()).toContain('attempt-failed A 1 0 lost its verification came to no end');
    expect(world.state.tasks['A']?.status).toBe('failed');
  });

  it('is charged when its worker has to be killed: it would be repeated without end', () => {
    for (let round = 1; round <= 3; round++) {
      world.settle();
      world.says(0, { silentMs: 6000 });
      world.settle();
    }
    expect(world.state.tasks['A']).toMatchObject({ status: 'failed', losses: 3 });
  });

  it('takes no result of a task from its worker', () => {
    world.settle();
    const claim = { kind: 'task', attempt: 'A.1@verification', outcome: 'verified', detail: '', feedback: '' } as const;
    world.says(0, { alive: false, claim: { ...claim, commit: null, usage: null, resetAt: null } });
    expect(world.settle()).not.toContain('take-result');
  });

  it('is done again, and not charged, when the orchestrator was away', () => {
    world.settle();
    world.dies(0);
    world.says(0, { orchestratorAway: true });
    expect(world.settle()).toContain('record verification-lost A 1 nothing');
    expect(world.state.tasks['A']?.losses).toBe(0);
  });

  it('believes no result of another kind, or of the attempt itself', () => {
    world.settle();
    world.says(0, { attempt: 'A.1' });
    world.reports(0, {});
    expect(world.settle()).not.toContain('attempt');
    expect(world.state.tasks['A']?.status).toBe('verifying');
  });

  it.each([true, false])(
    'fails the attempt when the set-up fails on its commit, and not the run (alive: %s)',
    (alive) => {
      world.settle();
      world.says(0, { alive, exit: alive ? null : 'gone', setupFailure: 'npm ci failed' });
      world.settle();
      expect(world.state.status).toBe('running');
      expect(world.state.tasks['A']?.attempts[0]).toMatchObject({ outcome: 'verification-failed' });
    },
  );

  it('fails the attempt, and not the run, when no worker can start at its commit', () => {
    for (let round = 1; round <= 3; round++) {
      world.settle();
      world.says(0, { alive: false, exit: 'it could not be started: File name too long', overLimit: true });
      world.settle();
    }
    expect(world.state).toMatchObject({ status: 'running', startFailures: 0 });
    const { attempts } = world.state.tasks['A'] ?? {};
    expect(attempts?.[0]).toMatchObject({
      outcome: 'verification-failed',
      detail: expect.stringContaining('File name too long'),
    });
  });

  it('of a run that is stopped is kept for the resumed one', () => {
    world.settle();
    world.stop(130, 'interrupted');
    world.settle();
    expect(world.state.tasks['A']).toMatchObject({ status: 'verifying', losses: 0 });
  });

  it('does not run for a task without one', () => {
    ends(world, 1, () => world.reports(1, {}));
    expect(world.settle()).toContain('record attempt-accepted B 1 1');
  });
});

it('the cost of an attempt is counted once, when its agent has ended', () => {
  const world = createWorld([{ id: 'A', verify: 'true' }], { workers: 1 }, AFRESH);
  world.settle();
  ends(world, 0, () => world.reports(0, { usage: USAGE }));
  world.settle();
  expect(world.state.cost.costUsd).toBe(3);
  ends(world, 0, () => world.verifies(0, {}));
  world.settle();
  expect(world.state.cost.costUsd).toBe(3);
  expect(world.state.tasks['A']?.attempts[0]?.usage).toEqual(USAGE);
});

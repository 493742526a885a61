import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, createWorld } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { TaskResult, WorkerStatus } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import type { Hands } from './hands.ts';
import { createObserver } from './observe.ts';
import type { WorkerView } from './plan.ts';
import type { RunContext } from './ports.ts';

interface Desk {
  readonly state: RunState;
  look(worker: number): Promise<WorkerView>;
  /** What stands in a worker's status file; its session is the right one, unless it is given. */
  says(worker: number, status: Partial<WorkerStatus>): void;
  wait(ms: number): void;
}

const RESULT: TaskResult = {
  kind: 'task',
  attempt: 'A.1',
  outcome: 'verified',
  detail: 'done',
  feedback: '',
  commit: null,
  usage: null,
  resetAt: null,
};

/** Two workers at work on A and B; what they say is in real files, and a commit is on the base when its name is "good". */
function openDesk(limits: { totalMs: number; setupMs?: number }): Desk {
  const world = createWorld([{ id: 'A' }, { id: 'B' }]);
  world.settle();
  const folder = tempFolder();
  // They are up: only then their silence counts.
  const up = Object.entries(world.state.workers).map(([key, worker]) => [key, { ...worker, handle: {} }]);
  const state: RunState = { ...world.state, workers: Object.fromEntries(up) };
  let now = 0;
  const status = (worker: number): string => path.join(folder, String(worker), 'status.json');
  const repository = {
    commitFacts: async (id: string) =>
      id === commit('good') ? { parents: [state.base], changed: ['a'] } : { parents: [commit('other')], changed: [] },
  };
  const context = {
    ports: {
      clock: { now: () => now, monotonic: () => now },
      store: { paths: { worker: (worker: number) => ({ status: status(worker) }) }, takeRequests: async () => [] },
      launcher: { capabilities: { sharesObjects: true } },
      repository,
    },
    options: {
      redact: (text: string) => text.replaceAll('secret', '***'),
      limits: { totalMs: limits.totalMs, idleMs: 0, completionMs: 0 },
      setup: limits.setupMs === undefined ? null : { command: 'x', timeoutMs: limits.setupMs },
      graceMs: 0,
      stop: new AbortController().signal,
    },
    graph: {
      tasks: [
        { id: 'A', verification: null },
        { id: 'B', verification: null },
      ],
    },
  } as unknown as RunContext;
  const hands = { exitOf: () => undefined, outage: undefined } as unknown as Hands;
  const observer = createObserver(context, hands);
  return {
    state,
    look: async (worker) => {
      const view = (await observer.look(state)).workers.get(worker);
      if (view === undefined) throw new Error(`nothing is known of worker ${worker}`);
      return view;
    },
    says: (worker, change) => {
      const told: WorkerStatus = {
        version: 1,
        session: state.workers[worker]?.session ?? '',
        pid: 1,
        phase: 'running',
        attempt: null,
        beat: now,
        at: '2026-01-01T00:00:00.000Z',
        usage: null,
        result: null,
        setupFailure: null,
        ...change,
      };
      mkdirSync(path.dirname(status(worker)), { recursive: true });
      writeFileSync(status(worker), JSON.stringify(told));
    },
    wait: (ms) => (now += ms),
  };
}

describe('what a worker says', () => {
  it('counts for the attempt it was given', async () => {
    const desk = openDesk({ totalMs: 1000 });
    desk.says(0, { result: { ...RESULT, commit: commit('good') } });
    expect((await desk.look(0)).result).toMatchObject({ attempt: 'A.1', misfit: null, changed: ['a'] });
  });

  it("of another worker's attempt is not heard, and does not stand in the way of who may speak of it", async () => {
    const desk = openDesk({ totalMs: 1000 });
    desk.says(0, { result: { ...RESULT, attempt: 'B.1', outcome: 'credentials', detail: 'forged' } });
    expect((await desk.look(0)).result).toBeNull();
    desk.says(1, { result: { ...RESULT, attempt: 'B.1', commit: commit('good') } });
    expect((await desk.look(1)).result).toMatchObject({ outcome: 'verified', detail: 'done' });
  });

  it('of a commit is checked: one that is somewhere else in history is none', async () => {
    const desk = openDesk({ totalMs: 1000 });
    desk.says(0, { result: { ...RESULT, commit: commit('bad') } });
    expect((await desk.look(0)).result).toMatchObject({
      misfit: expect.stringContaining('is not one commit on top of'),
    });
  });

  it('in the name of another life is nothing, and no secret in it is kept', async () => {
    const desk = openDesk({ totalMs: 1000 });
    desk.says(0, { session: 'another', phase: 'idle' });
    desk.says(1, { setupFailure: 'the secret is wrong' });
    expect((await desk.look(0)).phase).toBeNull();
    expect((await desk.look(1)).setupFailure).toBe('the *** is wrong');
  });
});

describe('work that goes on', () => {
  it('is silent from the last new beat on', async () => {
    const desk = openDesk({ totalMs: 1000 });
    desk.says(0, { beat: 7 });
    await desk.look(0);
    desk.wait(3000);
    expect((await desk.look(0)).silentMs).toBe(3000);
    desk.says(0, { beat: 8 });
    expect((await desk.look(0)).silentMs).toBe(0);
  });

  it('for longer than all its limits is not believed any more, whatever beats', async () => {
    const desk = openDesk({ totalMs: 60_000, setupMs: 40_000 });
    desk.says(0, { beat: 1 });
    expect((await desk.look(0)).unreadable).toBeNull();
    desk.wait(1_000_000);
    desk.says(0, { beat: 2 });
    expect((await desk.look(0)).unreadable).toBeNull();
    desk.wait(1000);
    desk.says(0, { beat: 3 });
    expect(await desk.look(0)).toMatchObject({
      silentMs: 0,
      unreadable: 'A goes on for 1001 s, and all its limits together are 1000 s',
    });
  });
});

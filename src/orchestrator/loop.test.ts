import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_SNAPSHOTS } from '../snapshots/index.ts';
import { createWorld } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { libErrors } from '../lib/index.ts';
import { createFolderMail } from '../mail/index.ts';
import type { FeaturePaths, RecordedEvent, RunState, StateStore } from '../state/index.ts';
import type { WorkerRegister } from './worker-register.ts';
import { openJournal } from './journal.ts';
import { createBell, runLoop } from './loop.ts';
import type { RunEnd } from './loop.ts';
import type { RunContext } from './ports.ts';

interface Scene {
  readonly ended: string[];
  /** Writes the status file of the only worker. */
  says(text: string): void;
  stop(): void;
  run(): Promise<RunEnd>;
  finished(): RecordedEvent | undefined;
  /** What was done to the disk, in order. */
  readonly disk: string[];
  /** Whether the folder of the worker is in its place. */
  hasFolder(): boolean;
}

type Requests = StateStore['requests'];

/** A run with one worker, that is at work on A and ends when it is asked to; F has failed. */
function setScene(requests: Requests = async () => [], isEndSeen = true): Scene {
  const world = createWorld([{ id: 'F' }, { id: 'A' }], { workers: 1 });
  for (let tries = 1; tries <= 2; tries += 1) {
    world.settle();
    world.reports(0, { outcome: 'idle' });
  }
  world.settle();
  const disk: string[] = [];
  const folder = tempFolder();
  const status = path.join(folder, 'status.json');
  const [stop, ended, events]: [AbortController, string[], RecordedEvent[]] = [new AbortController(), [], []];
  const own = path.join(folder, '0');
  const worker = {
    status,
    outbox: folder,
    folder: own,
    worktree: path.join(own, 'tree'),
    gitDir: path.join(own, 'git'),
  };
  mkdirSync(path.join(folder, 'workers'));
  mkdirSync(own);
  const paths = {
    worker: () => worker,
    requests: folder,
    workers: path.join(folder, 'workers'),
    copies: path.join(folder, 'copies'),
  };
  const context = {
    ports: {
      clock: { now: () => 0, monotonic: () => 0 },
      store: {
        paths,
        requests,
        dropRequests: async (ids: Iterable<string>) => void disk.push(...[...ids].map((id) => `dropped ${id}`)),
        restore: async () => [],
        append: async () => undefined,
        write: async ({ tasks }: RunState) => void disk.push(`saved: F is ${tasks['F']?.status}`),
        removeWorkers: async () => undefined,
      },
      repository: { removeWorktrees: async () => undefined, repairRecords: async () => undefined },
      launcher: { capabilities: { sharesObjects: true }, spares: null, sweep: async () => 0 },
      snapshots: NO_SNAPSHOTS,
      mail: createFolderMail(paths as unknown as FeaturePaths),
      watch: () => ({ close: () => undefined }),
      emit: (event: RecordedEvent) => {
        events.push(event);
        if (event.type === 'task-reset') stop.abort({ status: 'stopped', exit: 130, cause: 'Ctrl-C' });
      },
    },
    options: {
      policy: { attempts: 2, losses: 3, backoffMs: 1000, silentMs: 5000, startFailures: 3, setup: false },
      redact: (text: string) => text,
      limits: { totalMs: 1000, idleMs: 0, completionMs: 0 },
      setup: null,
      deadlineMs: null,
      spentMs: 0,
      graceMs: 0,
      stop: stop.signal,
    },
    graph: {
      feature: 'f',
      levels: [1],
      tasks: ['F', 'A'].map((id) => ({ id, level: 1, dependencies: [], verification: null })),
    },
  } as unknown as RunContext;
  const register = {
    exitOf: (session: string) => (ended.includes(session) ? { how: 'killed', overLimit: false } : undefined),
    end: async (session: string) => void ended.push(session),
    stopAll: async () => void ended.push(world.state.workers[0]?.session ?? ''),
    isGone: () => isEndSeen,
    lastLines: async () => [],
    takesCredentials: () => true,
    retiredFor: () => null,
    outage: undefined,
  } as unknown as WorkerRegister;
  const journal = openJournal(context.ports, world.state);
  return {
    ended,
    disk,
    hasFolder: () => existsSync(own),
    says: (text) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(status, text);
    },
    stop: () => stop.abort({ status: 'stopped', exit: 130, cause: 'Ctrl-C' }),
    run: () => runLoop(context, journal, register, createBell()),
    finished: () => events.find(({ type }) => type === 'run-finished'),
  };
}

describe('the end of a run', () => {
  it('comes also when a worker has to be killed at that moment', async () => {
    const scene = setScene();
    scene.says('{"this is": "no status"}');
    scene.stop();
    expect((await scene.run()).exit).toBe(130);
    expect(scene.finished()).toMatchObject({ status: 'stopped', exit: 130, cause: 'Ctrl-C' });
    expect(scene.hasFolder()).toBe(false);
  });

  it('leaves the folder of a worker in its place whose end was not seen: it may write there', async () => {
    const scene = setScene(undefined, false);
    scene.says('{"this is": "no status"}');
    scene.stop();
    await scene.run();
    expect(scene.hasFolder()).toBe(true);
  });

  it('by an unforeseen error has the exit status of that error in its event', async () => {
    const full = libErrors.FILE_UNWRITABLE({ file: 'requests', reason: 'no space left' });
    const scene = setScene(async () => Promise.reject(full));
    await expect(scene.run()).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      hint: expect.stringContaining('--resume'),
      cause: full,
    });
    expect(full.exit).not.toBe(1);
    expect(scene.finished()).toMatchObject({ status: 'stopped', exit: full.exit, cause: full.message });
  });
});

describe('a request of a user', () => {
  it('is dropped only when the state that shows its effect is saved', async () => {
    const scene = setScene(async () => [{ id: 'r.json', kind: 'retry', task: 'F' }]);
    await scene.run();
    const [last, ...before] = scene.disk.toReversed();
    expect(last).toBe('dropped r.json');
    expect(new Set(before)).toEqual(new Set(['saved: F is pending']));
  });

  it('is dropped when it is not valid', async () => {
    const scene = setScene(async () => [{ id: 'broken.json' }, { id: 'r.json', kind: 'retry', task: 'F' }]);
    await scene.run();
    expect(scene.disk).toContain('dropped broken.json');
  });
});

describe('the bell', () => {
  let now = 0;
  const stop = new AbortController();
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** How many of these rings in a row end a wait without any pause. */
  async function atOnce(bell: ReturnType<typeof createBell>, rings: number): Promise<number> {
    let woken = 0;
    for (let ring = 0; ring < rings; ring += 1) {
      bell.ring();
      const wait = bell.wait(stop.signal, 1000).then(() => (woken += 1));
      await vi.advanceTimersByTimeAsync(0);
      if (vi.getTimerCount() > 0) await vi.advanceTimersByTimeAsync(20).then(() => (woken -= 1));
      await wait;
    }
    return woken;
  }

  it('ends a wait at once, but for one that a task rings without end, which would take a processor', async () => {
    const bell = createBell(() => now);
    expect(await atOnce(bell, 1000)).toBe(100);
    now += 1001;
    expect(await atOnce(bell, 100)).toBe(100);
  });

  it('does not hold up a stop', async () => {
    const bell = createBell(() => now);
    await atOnce(bell, 100);
    stop.abort();
    expect(await atOnce(bell, 10)).toBe(10);
  });
});

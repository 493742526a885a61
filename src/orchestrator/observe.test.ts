import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { NO_SNAPSHOTS } from '../snapshots/index.ts';
import { commit, createWorld } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { readUntrustedNow } from '../lib/index.ts';
import { BUNDLE, TROUBLE_LIMIT } from '../protocol/index.ts';
import type { TaskResult, WorkerStatus } from '../protocol/index.ts';
import { createFolderMail } from '../mail/index.ts';
import type { FeaturePaths, RunState } from '../state/index.ts';
import type { WorkerRegister } from './worker-register.ts';
import { createObserver } from './observe.ts';
import { takeResults } from './decide-examination.ts';
import { createExaminer } from './examine.ts';
import type { Examiner } from './examine.ts';
import type { WorkerView } from './plan.ts';
import type { RunContext } from './ports.ts';

vi.mock(import('../lib/atomic-file.ts'), { spy: true });

interface Scene {
  readonly state: RunState;
  readonly examiner: Examiner;
  /** Bundles that are being examined: the host's answer to each is still to be given. */
  readonly bundles: { readonly taken: (tip: string) => void; readonly failed: (error: Error) => void }[];
  /** How often the loop was woken. */
  news(): number;
  /** As the loop does it: results are taken, and then there is another look. */
  look(worker: number): Promise<WorkerView>;
  /** Writes a worker's status file; the session is the right one, unless it is given. */
  says(worker: number, status: { [Key in keyof WorkerStatus]?: WorkerStatus[Key] | undefined }): void;
  wait(ms: number): void;
  dies(worker: number): void;
  /** How often the end of a log was read. */
  readLogs(): number;
  /** Their starts are over. */
  comeUp(): void;
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

const fails = (error: Error): never => {
  throw error;
};

const NO_GROWTH = { bytes: 0, heaviest: [] };

/** Two workers at work on A and B; what they say is in real files, and a commit is on the base when its name is "good". */
function openScene(limits: { totalMs: number; setupMs?: number }, sharesObjects = true, isUp = true): Scene {
  const world = createWorld([{ id: 'A' }, { id: 'B' }]);
  world.settle();
  const folder = tempFolder();
  // They are up: only then their silence counts.
  const up = Object.entries(world.state.workers).map(([key, worker]) => [key, { ...worker, handle: {} }]);
  const running: RunState = { ...world.state, workers: Object.fromEntries(up) };
  let state = isUp ? running : world.state;
  let now = 0;
  const status = (worker: number): string => path.join(folder, String(worker), 'status.json');
  const paths = {
    worker: (worker: number) => ({
      status: status(worker),
      outbox: path.dirname(status(worker)),
      bundle: path.join(folder, `${worker}.bundle`),
    }),
  };
  const bundles: Scene['bundles'] = [];
  const repository = {
    fetchBundle: () =>
      new Promise<{ commit: string }>((taken, failed) =>
        bundles.push({ taken: (tip) => taken({ commit: tip }), failed }),
      ),
    factsOf: async ({ commit: id }: { commit: string }) => repository.commitFacts(id),
    commitFacts: async (id: string) =>
      id === commit('good')
        ? { parents: [state.base], changed: ['a'], embedded: [], tooLong: [], growth: NO_GROWTH }
        : { parents: [commit('other')], changed: [], embedded: [], tooLong: [], growth: NO_GROWTH },
    remake: async ({ commit }: { commit: string }) => commit,
    checkoutGrowth: { between: async () => NO_GROWTH, know: () => undefined },
  };
  const context = {
    ports: {
      clock: { now: () => now, monotonic: () => now },
      store: { requests: async () => [] },
      mail: createFolderMail(paths as unknown as FeaturePaths),
      launcher: { capabilities: { sharesObjects } },
      snapshots: NO_SNAPSHOTS,
      repository,
    },
    options: {
      redact: (text: string) => text.replaceAll('secret', '***'),
      limits: { totalMs: limits.totalMs, idleMs: 0, completionMs: 0 },
      setup: limits.setupMs === undefined ? null : { command: 'x', timeoutMs: limits.setupMs },
      graceMs: 0,
      deadlineMs: null,
      spentMs: 0,
      bundleBytes: 1000,
      checkoutBytes: 1000,
      stop: new AbortController().signal,
    },
    graph: {
      feature: 'f',
      tasks: [
        { id: 'A', verification: null },
        { id: 'B', verification: null },
      ],
    },
  } as unknown as RunContext;
  const dead = new Set<string>();
  let logs = 0;
  const register = {
    exitOf: (session: string) => (dead.has(session) ? { how: 'killed', overLimit: false } : undefined),
    lastLines: async () => [`read ${(logs += 1)} times`],
    takesCredentials: () => true,
    retiredFor: () => null,
    outage: undefined,
  } as unknown as WorkerRegister;
  let news = 0;
  const examiner = createExaminer(context, () => news++);
  const observer = createObserver({ context, register, examiner, spares: { view: () => null } });
  return {
    state,
    examiner,
    bundles,
    news: () => news,
    look: async (worker) => {
      const first = await observer.look(state);
      const taken = takeResults(first);
      for (const action of taken) examiner.begin(state, action);
      const view = (taken.length > 0 ? await observer.look(state) : first).workers.get(worker);
      if (view === undefined) throw new Error(`nothing is known of worker ${worker}`);
      return view;
    },
    says: (worker, change) => {
      const told = {
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
        trouble: null,
        ...change,
      };
      mkdirSync(path.dirname(status(worker)), { recursive: true });
      writeFileSync(status(worker), JSON.stringify(told));
      writeFileSync(path.join(folder, String(worker), BUNDLE), 'a bundle');
    },
    wait: (ms) => (now += ms),
    comeUp: () => (state = running),
    readLogs: () => logs,
    dies: (worker) => dead.add(state.workers[worker]?.session ?? ''),
  };
}

describe('the status of a worker', () => {
  it('counts for the attempt that the worker has', async () => {
    const scene = openScene({ totalMs: 1000 });
    scene.says(0, { result: { ...RESULT, commit: commit('good') } });
    expect((await scene.look(0)).result).toMatchObject({ attempt: 'A.1', fault: null, changed: ['a'] });
  });

  it('has trouble with its model as one line, without secrets and without what a terminal would obey', async () => {
    const scene = openScene({ totalMs: 1000 });
    scene.says(0, { trouble: '\u001B[2Ja secret\n\u202Eb' });
    expect((await scene.look(0)).trouble).toBe('?[2Ja ***??b');
    scene.says(0, { trouble: 'x'.repeat(TROUBLE_LIMIT + 1) });
    expect(await scene.look(0)).toMatchObject({ trouble: null, unreadable: expect.stringContaining('trouble') });
  });

  it('can be read also without the field for trouble: an earlier version may have started the worker', async () => {
    const scene = openScene({ totalMs: 1000 });
    scene.says(0, { trouble: undefined });
    expect(await scene.look(0)).toMatchObject({ trouble: null, unreadable: null, phase: 'running' });
  });

  it("with a result for another worker's attempt is ignored, and that worker's own result still counts", async () => {
    const scene = openScene({ totalMs: 1000 });
    scene.says(0, { result: { ...RESULT, attempt: 'B.1', outcome: 'credentials', detail: 'forged' } });
    expect((await scene.look(0)).result).toBeNull();
    scene.says(1, { result: { ...RESULT, attempt: 'B.1', commit: commit('good') } });
    expect((await scene.look(1)).result).toMatchObject({ outcome: 'verified', detail: 'done' });
  });

  it('has its commit checked: one that is elsewhere in the history cannot be used', async () => {
    const scene = openScene({ totalMs: 1000 });
    scene.says(0, { result: { ...RESULT, commit: commit('bad') } });
    expect((await scene.look(0)).result).toMatchObject({
      fault: expect.stringContaining('is not one commit on top of'),
    });
  });

  it('of another session is ignored, and no secret in a status is kept', async () => {
    const scene = openScene({ totalMs: 1000 });
    scene.says(0, { session: 'another', phase: 'idle' });
    scene.says(1, { setupFailure: 'the secret is wrong' });
    expect((await scene.look(0)).phase).toBeNull();
    expect((await scene.look(1)).setupFailure).toBe('the *** is wrong');
  });
});

it('the log of a dead worker is read once: the next one may write to it', async () => {
  const scene = openScene({ totalMs: 1000 });
  scene.says(0, {});
  expect([(await scene.look(0)).lastLines, scene.readLogs()]).toEqual([[], 0]);
  scene.dies(0);
  for (const _ of [1, 2]) expect((await scene.look(0)).lastLines).toEqual(['read 1 times']);
});

it('a worker that was seen at work is past its set-up, whatever its status says later', async () => {
  const scene = openScene({ totalMs: 1000, setupMs: 1000 });
  scene.says(0, { phase: 'setup', attempt: 'A.1' });
  expect((await scene.look(0)).pastSetup).toBe(false);
  scene.says(0, { phase: 'running', attempt: 'B.1' });
  expect((await scene.look(0)).pastSetup).toBe(false);
  scene.says(0, { phase: 'running', attempt: 'A.1' });
  expect((await scene.look(0)).pastSetup).toBe(true);
  scene.says(0, { phase: 'stopping', attempt: 'C.1', setupFailure: 'forged' });
  expect((await scene.look(0)).pastSetup).toBe(true);
});

/** Worker 0 has said that it is done, and its bundle is being examined. */
async function openExamination(): Promise<Scene> {
  const scene = openScene({ totalMs: 1000 }, false);
  scene.says(0, { phase: 'idle', result: { ...RESULT, commit: commit('good') } });
  await scene.look(0);
  await waitUntil('the bundle is examined', () => scene.bundles.length === 1);
  return scene;
}

describe('a result in a bundle', () => {
  it('holds up no other worker: the others are looked at meanwhile, and the loop is woken at its end', async () => {
    const scene = await openExamination();
    scene.says(1, { phase: 'idle' });
    expect((await scene.look(0)).result).toBeNull();
    expect((await scene.look(1)).phase).toBe('idle');
    expect(scene.news()).toBe(0);
    scene.bundles[0]?.taken(commit('good'));
    await waitUntil('the loop is woken', () => scene.news() === 1);
    expect((await scene.look(0)).result).toMatchObject({ attempt: 'A.1', fault: null, changed: ['a'] });
    expect(scene.bundles).toHaveLength(1);
  });

  it('of a worker that died is still examined, and is seen together with its end', async () => {
    const scene = await openExamination();
    scene.dies(0);
    const meanwhile = await scene.look(0);
    expect(meanwhile).toMatchObject({ alive: false, examining: true, result: null });
    scene.bundles[0]?.taken(commit('good'));
    await scene.examiner.rest();
    expect(await scene.look(0)).toMatchObject({ alive: false, exit: 'killed', result: { outcome: 'verified' } });
  });

  it('is the one that the worker reported first, whatever it reports during the examination', async () => {
    const scene = await openExamination();
    scene.says(0, { phase: 'idle', result: { ...RESULT, commit: commit('bad') } });
    await scene.look(0);
    scene.says(0, { phase: 'idle', result: null });
    expect(await scene.look(0)).toMatchObject({ examining: true, claim: null, result: null });
    scene.bundles[0]?.taken(commit('good'));
    await scene.examiner.rest();
    expect((await scene.look(0)).result).toMatchObject({ commit: commit('good'), fault: null });
    expect(scene.bundles).toHaveLength(1);
  });

  it('that could not be examined makes the next look throw the reason', async () => {
    const scene = await openExamination();
    scene.bundles[0]?.failed(new Error('no room'));
    await waitUntil('the loop is woken', () => scene.news() === 1);
    await expect(scene.look(0)).rejects.toThrow('no room');
    await scene.examiner.rest();
  });

  it('without a commit is known at once', async () => {
    const scene = openScene({ totalMs: 1000 }, false);
    scene.says(0, { result: { ...RESULT, outcome: 'idle' } });
    expect((await scene.look(0)).result).toMatchObject({ outcome: 'idle', fault: null });
  });
});

describe('an attempt under way', () => {
  it('does not count as unreadable when this process has no descriptors left', async () => {
    const scene = openScene({ totalMs: 1000 });
    const error = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    vi.mocked(readUntrustedNow).mockImplementationOnce(() => fails(error));
    expect(await scene.look(0)).toMatchObject({ phase: null, unreadable: null });
    scene.says(0, { phase: 'running' });
    await scene.look(0);
    vi.mocked(readUntrustedNow).mockImplementationOnce(() => fails(new Error('it is a link')));
    expect((await scene.look(0)).unreadable).toContain('it is a link');
    scene.says(0, { phase: 'running' });
    await scene.look(0);
    vi.mocked(readUntrustedNow).mockImplementationOnce(() => fails(new Error('cannot be read', { cause: error })));
    expect(await scene.look(0)).toMatchObject({ phase: 'running', unreadable: null });
  });

  it('counts as silent since the last new heartbeat', async () => {
    const scene = openScene({ totalMs: 1000 });
    scene.says(0, { beat: 7 });
    await scene.look(0);
    scene.wait(3000);
    expect((await scene.look(0)).silentMs).toBe(3000);
    scene.says(0, { beat: 8 });
    expect((await scene.look(0)).silentMs).toBe(0);
  });

  it('counts as unreadable when it lasts longer than all its limits, whatever its heartbeat', async () => {
    const scene = openScene({ totalMs: 60_000, setupMs: 40_000 });
    scene.says(0, { beat: 1 });
    expect((await scene.look(0)).unreadable).toBeNull();
    scene.wait(1_000_000);
    scene.says(0, { beat: 2 });
    expect((await scene.look(0)).unreadable).toBeNull();
    scene.wait(1000);
    scene.says(0, { beat: 3 });
    expect(await scene.look(0)).toMatchObject({
      silentMs: 0,
      unreadable: 'A goes on for 1001 s, and all its limits together are 1000 s',
    });
  });

  it('has no limit for the time in which its worker waits for a snapshot, with the set-ups of others before it', async () => {
    const scene = openScene({ totalMs: 60_000, setupMs: 40_000 }, true, false);
    await scene.look(0);
    scene.wait(5_000_000);
    expect((await scene.look(0)).unreadable).toBeNull();
    scene.comeUp();
    scene.wait(1_000_000);
    scene.says(0, { beat: 1 });
    expect((await scene.look(0)).unreadable).toBeNull();
    scene.wait(1000);
    scene.says(0, { beat: 2 });
    expect((await scene.look(0)).unreadable).toContain('A goes on for 1001 s');
  });
});

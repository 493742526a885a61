import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Launcher, WorkerExit, WorkerHandle, WorkerSpec } from '../../src/launchers/index.ts';

/** A worker as its program sees it. */
export interface FakeWorker {
  readonly spec: WorkerSpec;
  /** Fires when the worker is gone, however that came. */
  readonly gone: AbortSignal;
  print(line: string): void;
  exit(code: number): void;
  /** Called when the worker is asked to stop; without it the worker ends at once, as a process would. */
  onTerm(listener: () => void): void;
}

/** What a fake worker does, in place of a process. */
export type FakeProgram = (worker: FakeWorker) => void;

interface Running {
  readonly handle: WorkerHandle;
  readonly exit: Promise<WorkerExit>;
  term(): void;
  end(exit: WorkerExit): void;
}

/** What workers run on. It outlives a launcher, as processes outlive the orchestrator. */
export interface FakeMachine {
  readonly running: Map<string, Running>;
  /** Ends a worker from outside, without asking. */
  kill(session: string): void;
}

export function createFakeMachine(): FakeMachine {
  const running = new Map<string, Running>();
  return { running, kill: (session) => running.get(session)?.end({ code: null, signal: 'SIGKILL' }) };
}

/** A launcher without processes, for tests of what uses one. */
export function createFakeLauncher(program: FakeProgram, machine: FakeMachine = createFakeMachine()): Launcher {
  const exits = new Map<string, Promise<WorkerExit>>();
  const find = (handle: WorkerHandle): Running | undefined => {
    const worker = machine.running.get(handle.session);
    return worker?.handle.facts['started'] === handle.facts['started'] ? worker : undefined;
  };
  const wait = (handle: WorkerHandle): Promise<WorkerExit> => {
    const unseen: WorkerExit = { code: null, signal: null };
    const exit = exits.get(handle.session) ?? find(handle)?.exit.then(() => unseen) ?? Promise.resolve(unseen);
    exits.set(handle.session, exit);
    return exit;
  };
  return {
    name: 'fake',
    capabilities: { sharesObjects: true, singleUse: false },
    spares: null,
    start: async (spec) => {
      const worker = startFake(program, spec, machine);
      exits.set(spec.session, worker.exit);
      return worker.handle;
    },
    recover: async (handle) => find(handle) !== undefined,
    wait,
    takesCredentials: () => true,
    giveCredentials: () => undefined,
    stop: async (handle, { graceMs }) => {
      const worker = find(handle);
      const timer = setTimeout(() => worker?.end({ code: null, signal: 'SIGKILL' }), graceMs);
      worker?.term();
      const exit = await wait(handle);
      clearTimeout(timer);
      return exit;
    },
    logs: async (handle, lines) => {
      const file = String(handle.facts['log']);
      const all = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
      return all.slice(Math.max(0, all.length - lines));
    },
    list: async (runId) => ofRun(machine, runId).map((worker) => worker.handle),
    sweep: async (runId) => {
      const left = ofRun(machine, runId);
      for (const worker of left) worker.end({ code: null, signal: 'SIGKILL' });
      return left.length;
    },
  };
}

function ofRun(machine: FakeMachine, runId: string): Running[] {
  return [...machine.running.values()].filter((worker) => worker.handle.runId === runId);
}

function startFake(program: FakeProgram, spec: WorkerSpec, machine: FakeMachine): Running {
  const { runId, worker, session } = spec;
  const facts = { started: `start of ${session}`, log: spec.log };
  const handle: WorkerHandle = { launcher: 'fake', runId, worker, session, pid: null, containerId: null, facts };
  const gone = new AbortController();
  const end = (exit: WorkerExit): void => {
    machine.running.delete(session);
    gone.abort(exit);
  };
  const exit = new Promise<WorkerExit>((resolve) => {
    gone.signal.addEventListener('abort', () => resolve(gone.signal.reason as WorkerExit), { once: true });
  });
  let term = (): void => end({ code: null, signal: 'SIGTERM' });
  const running: Running = { handle, exit, term: () => term(), end };
  machine.running.set(session, running);
  // Never before the starter has its handle: a process is not that fast either.
  setImmediate(() => {
    if (gone.signal.aborted) return;
    program({
      spec,
      gone: gone.signal,
      print: (line) => appendFileSync(spec.log, `${line}\n`),
      exit: (code) => end({ code, signal: null }),
      onTerm: (listener) => (term = listener),
    });
  });
  return running;
}

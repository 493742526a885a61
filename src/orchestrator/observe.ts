import { readUntrusted, reasonOf } from '../lib/index.ts';
import type { Clock } from '../lib/index.ts';
import { STATUS_LIMIT, workerStatus } from '../protocol/index.ts';
import type { TaskResult, WorkerStatus } from '../protocol/index.ts';
import type { RunState, WorkerState } from '../state/index.ts';
import { isLive } from './decide-workers.ts';
import type { Hands } from './hands.ts';
import { attemptId } from './plan.ts';
import type { ObservedTaskResult, Snapshot, WorkerView } from './plan.ts';
import { stopRequestOf } from './ports.ts';
import type { RunContext } from './ports.ts';

const LAST_WORDS = 3;

/** Looks at workers, requests and the clock; remembers between looks only what saves looking again. */
export interface Observer {
  look(state: RunState): Promise<Snapshot>;
  /** Heartbeats of the last look. */
  readonly heartbeats: ReadonlyMap<number, string>;
}

interface Reading {
  readonly text: string | undefined;
  readonly status: WorkerStatus | null;
  readonly unreadable: string | null;
}

export function createObserver(context: RunContext, hands: Hands): Observer {
  const { ports, options, graph } = context;
  const silenceOf = createBeatWatch(ports.clock);
  const resultOf = createExaminer(context);
  const readings = new Map<number, Reading>();
  const heartbeats = new Map<number, string>();
  let asked: readonly string[] = [];

  const view = async (state: RunState, number: number, worker: WorkerState): Promise<WorkerView> => {
    // First whether it lives, then what it says: what a dead worker has said is then its last word.
    const exit = hands.exitOf(worker.session);
    const reading = await readStatus(ports.store.paths.worker(number).status, readings.get(number));
    readings.set(number, reading);
    const status = reading.status?.session === worker.session ? reading.status : null;
    if (status !== null) heartbeats.set(number, status.at);
    return {
      alive: exit === undefined,
      exit: exit ?? null,
      phase: status?.phase ?? null,
      attempt: status?.attempt ?? null,
      // Its start may take long; its silence counts from then on.
      silentMs: worker.handle === null ? 0 : silenceOf(number, worker.session, status?.beat ?? -1),
      result: await resultOf(state, status),
      setupFailure: status?.setupFailure ?? null,
      unreadable: reading.unreadable,
      lastWords: exit === undefined ? [] : await hands.lastWords(worker.session, LAST_WORDS),
    };
  };

  /** A wish stands until it is granted or has lost its object: the turn it arrives in may be about something else. */
  const takeRetries = async (state: RunState): Promise<readonly string[]> => {
    const news = (await ports.store.takeRequests()).map((request) => request.task);
    asked = [...asked, ...news].filter((id) => state.tasks[id]?.status === 'failed');
    return asked;
  };

  return {
    heartbeats,
    look: async (state) => {
      const live = Object.entries(state.workers).filter(([, worker]) => isLive(worker));
      const views = await Promise.all(
        live.map(async ([key, worker]) => [Number(key), await view(state, Number(key), worker)] as const),
      );
      return {
        now: ports.clock.now(),
        state,
        graph,
        policy: options.policy,
        workers: new Map(views),
        retries: await takeRetries(state),
        stop: stopRequestOf(options.stop),
      };
    },
  };
}

/** How long a worker has been silent, by our own clock. */
function createBeatWatch(clock: Clock): (worker: number, session: string, beat: number) => number {
  const beats = new Map<number, { session: string; beat: number; since: number }>();
  return (worker, session, beat) => {
    const now = clock.monotonic();
    const known = beats.get(worker);
    if (known?.session === session && known.beat === beat) return now - known.since;
    beats.set(worker, { session, beat, since: now });
    return 0;
  };
}

/** Results with what the repository says of them; asked once per attempt. */
function createExaminer(
  context: RunContext,
): (state: RunState, status: WorkerStatus | null) => Promise<WorkerView['result']> {
  const examined = new Map<string, ObservedTaskResult>();
  return async (state, status) => {
    const result = status?.result ?? null;
    if (result === null || result.kind === 'gate') return result;
    const known = examined.get(result.attempt);
    if (known !== undefined) return known;
    const base = baseOf(state, result.attempt);
    if (base === undefined) return null;
    const observed = await examine(context, result, base);
    examined.set(result.attempt, observed);
    return observed;
  };
}

/** What a worker reports is a claim; the commit itself is asked of the repository. */
async function examine({ ports }: RunContext, result: TaskResult, base: string): Promise<ObservedTaskResult> {
  if (result.commit === null) return { ...result, commitFits: true, changed: [] };
  const facts = await ports.repository.commitFacts(result.commit);
  if (facts?.parents.length !== 1 || facts.parents[0] !== base) return { ...result, commitFits: false, changed: [] };
  return { ...result, commitFits: true, changed: facts.changed };
}

function baseOf(state: RunState, attempt: string): string | undefined {
  for (const [id, task] of Object.entries(state.tasks)) {
    const found = task.attempts.find(({ number }) => attemptId(id, number) === attempt);
    if (found !== undefined) return found.base;
  }
  return undefined;
}

async function readStatus(file: string, before: Reading | undefined): Promise<Reading> {
  try {
    const text = await readUntrusted(file, STATUS_LIMIT);
    if (text === undefined) return { text, status: null, unreadable: null };
    if (before?.text === text) return before;
    return { text, status: workerStatus.parse(JSON.parse(text)), unreadable: null };
  } catch (error) {
    return { text: undefined, status: null, unreadable: reasonOf(error).slice(0, 500) };
  }
}

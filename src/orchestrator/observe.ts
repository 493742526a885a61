import { readUntrusted, reasonOf } from '../lib/index.ts';
import { workerStatus } from '../protocol/index.ts';
import type { TaskResult, WorkerStatus } from '../protocol/index.ts';
import type { RunState, WorkerState } from '../state/index.ts';
import type { Hands } from './hands.ts';
import { attemptId } from './plan.ts';
import type { ObservedTaskResult, Snapshot, WorkerView } from './plan.ts';
import { stopRequestOf } from './ports.ts';
import type { RunContext } from './ports.ts';

const STATUS_LIMIT = 512 * 1024;
const LAST_WORDS = 3;

/** Looks at workers, requests and the clock; remembers between looks only what saves looking again. */
export interface Observer {
  look(state: RunState): Promise<Snapshot>;
  /** Heartbeats of the last look. */
  readonly heartbeats: ReadonlyMap<number, string>;
}

interface Beat {
  readonly session: string;
  readonly beat: number;
  readonly since: number;
}

interface Reading {
  readonly text: string | undefined;
  readonly status: WorkerStatus | null;
  readonly unreadable: string | null;
}

export function createObserver(context: RunContext, hands: Hands): Observer {
  const { ports, options, graph } = context;
  const beats = new Map<number, Beat>();
  const readings = new Map<number, Reading>();
  const facts = new Map<string, ObservedTaskResult>();
  const heartbeats = new Map<number, string>();

  const read = async (number: number): Promise<Reading> => {
    const before = readings.get(number);
    const reading = await readStatus(ports.store.paths.worker(number).status, before);
    readings.set(number, reading);
    return reading;
  };

  const silence = (number: number, worker: WorkerState, status: WorkerStatus | null): number => {
    const now = ports.clock.monotonic();
    const known = beats.get(number);
    const beat = status?.session === worker.session ? status.beat : -1;
    if (known === undefined || known.session !== worker.session || known.beat !== beat) {
      beats.set(number, { session: worker.session, beat, since: now });
      return 0;
    }
    return now - known.since;
  };

  const resultOf = async (state: RunState, status: WorkerStatus | null): Promise<WorkerView['result']> => {
    const result = status?.result ?? null;
    if (result === null || result.kind === 'gate') return result;
    const known = facts.get(result.attempt);
    if (known !== undefined) return known;
    const base = baseOf(state, result.attempt);
    if (base === undefined) return null;
    const observed = await examine(context, result, base);
    facts.set(result.attempt, observed);
    return observed;
  };

  const view = async (state: RunState, number: number, worker: WorkerState): Promise<WorkerView> => {
    const exit = hands.exitOf(worker.session);
    const { status, unreadable } = await read(number);
    const own = status?.session === worker.session ? status : null;
    if (own !== null) heartbeats.set(number, own.at);
    return {
      alive: exit === undefined,
      exit: exit ?? null,
      phase: own?.phase ?? null,
      attempt: own?.attempt ?? null,
      silentMs: silence(number, worker, status),
      result: await resultOf(state, own),
      setupFailure: own?.setupFailure ?? null,
      unreadable,
      lastWords: exit === undefined ? [] : await hands.lastWords(worker.session, LAST_WORDS),
    };
  };

  return {
    heartbeats,
    look: async (state) => {
      const entries = Object.entries(state.workers).filter(
        ([, worker]) => worker.status !== 'STOPPED' && worker.status !== 'CRASHED',
      );
      const views = await Promise.all(
        entries.map(async ([key, worker]) => [Number(key), await view(state, Number(key), worker)] as const),
      );
      return {
        now: ports.clock.now(),
        state,
        graph,
        policy: options.policy,
        workers: new Map(views),
        retries: (await ports.store.takeRequests()).map((request) => request.task),
        stop: stopRequestOf(options.stop),
      };
    },
  };
}

/** What a worker reports is a claim; the commit itself is asked of the repository. */
async function examine({ ports }: RunContext, result: TaskResult, base: string): Promise<ObservedTaskResult> {
  if (result.commit === null) return { ...result, commitFits: true, changed: [] };
  const parents = await ports.repository.parentsOf(result.commit);
  if (parents?.length !== 1 || parents[0] !== base) return { ...result, commitFits: false, changed: [] };
  return { ...result, commitFits: true, changed: await ports.repository.changedPaths(base, result.commit) };
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
    if (before !== undefined && before.text === text) return before;
    if (text === undefined) return { text, status: null, unreadable: null };
    return { text, status: workerStatus.parse(JSON.parse(text)), unreadable: null };
  } catch (error) {
    return { text: undefined, status: null, unreadable: reasonOf(error).slice(0, 500) };
  }
}

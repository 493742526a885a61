import { inSeconds, isPassing, reasonOf, systemClock } from '../lib/index.ts';
import type { Clock } from '../lib/index.ts';
import { workerStatus } from '../protocol/index.ts';
import type { Phase, WorkerStatus } from '../protocol/index.ts';
import type { RunState, WorkerState } from '../state/index.ts';
import { taskOf } from '../tasks/index.ts';
import { createWaits } from './backoff.ts';
import type { WorkerEnd } from './decide-losses.ts';
import { whyStop } from './decide-stop.ts';
import type { Examiner } from './examine.ts';
import type { WorkerRegister } from './worker-register.ts';
import { attemptId, isLive, openAttempt } from './plan.ts';
import type { Snapshot, StopRequest, WorkerView } from './plan.ts';
import { stopRequestOf } from './ports.ts';
import type { Ports, RunContext } from './ports.ts';

const LAST_WORDS = 3;
/** For checkouts and commits, which have no limit of their own, and for a slow machine. */
const UNLIMITED_MS = 15 * 60_000;

/** Reads workers, requests and the clock into a snapshot. */
export interface Observer {
  look(state: RunState): Promise<Omit<Snapshot, 'merging'>>;
  /** Drops the requests that had their effect; to be called once the state that shows it is saved. */
  forgetAnswered(): Promise<void>;
  /** Heartbeats of the last look. */
  readonly heartbeats: ReadonlyMap<number, string>;
}

/** In these phases the set-up is over. */
const AT_WORK: ReadonlySet<Phase> = new Set(['running', 'verifying', 'gating']);

type EndView = Pick<WorkerView, 'alive' | 'exit' | 'overLimit' | 'lastWords'>;

interface Reading {
  readonly text: string | undefined;
  readonly status: WorkerStatus | null;
  readonly unreadable: string | null;
}

export function createObserver(
  context: RunContext,
  register: WorkerRegister,
  examiner: Pick<Examiner, 'resultOf'>,
): Observer {
  const { ports, options, graph } = context;
  const stopOf = createStopWatch(context, register);
  const silenceOf = createBeatWatch(ports.clock);
  const overdue = createAttemptWatch(context);
  const pastSetup = createSetupWatch();
  const leftAlone = createAbsenceWatch();
  const waitsOf = createWaits(ports.clock, options.policy, graph);
  const readings = new Map<number, Reading>();
  const heartbeats = new Map<number, string>();
  const requests = createRequests(ports);

  const view = async (state: RunState, number: number, worker: WorkerState): Promise<WorkerView> => {
    // The exit is read before the status: then the status of a dead worker is its last one.
    const exit = register.exitOf(worker.session);
    const reading = await readStatus(context, number, readings.get(number));
    readings.set(number, reading);
    const status = reading.status?.session === worker.session ? reading.status : null;
    if (status !== null) heartbeats.set(number, status.at);
    return {
      ...(await aliveOrDead(worker, exit)),
      ...wordsOf(status),
      pastSetup: pastSetup(state, number, status),
      leftAlone: leftAlone(state, number),
      takesCredentials: register.takesCredentials(worker.session),
      // Its start may take long; its silence counts from then on.
      silentMs: worker.handle === null ? 0 : silenceOf(number, worker.session, status?.beat ?? -1),
      ...(await resultOf(examiner, openAttempt(state, number)?.name, number, status)),
      unreadable: reading.unreadable ?? overdue(state, number, worker),
    };
  };

  const aliveOrDead = async (worker: WorkerState, exit: WorkerEnd | undefined): Promise<EndView> => {
    if (exit === undefined) return { alive: true, exit: null, overLimit: false, lastWords: [] };
    const lastWords = await register.lastWords(worker.session, LAST_WORDS);
    return { alive: false, exit: exit.how, overLimit: exit.overLimit, lastWords };
  };

  return {
    heartbeats,
    forgetAnswered: requests.forgetAnswered,
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
        waits: waitsOf(state.tasks),
        retries: await requests.retries(state),
        stop: stopOf(),
      };
    },
  };
}

interface Requests {
  retries(state: RunState): Promise<readonly string[]>;
  forgetAnswered(): Promise<void>;
}

/** A request is open while its task is failed: the turn in which it arrives may be about something else. */
function createRequests({ store }: Pick<Ports, 'store'>): Requests {
  const answered = new Set<string>();
  return {
    retries: async (state) => {
      const open = (await store.requests()).filter(({ id, task }) => {
        if (state.tasks[task]?.status !== 'failed') answered.add(id);
        return !answered.has(id);
      });
      return open.map(({ task }) => task);
    },
    forgetAnswered: async () => {
      await store.dropRequests(answered);
      answered.clear();
    },
  };
}

function createStopWatch({ ports, options }: RunContext, register: WorkerRegister): () => StopRequest | null {
  const begun = ports.clock.monotonic();
  return () =>
    whyStop({
      asked: stopRequestOf(options.stop),
      outage: register.outage,
      spentMs: ports.clock.monotonic() - begun,
      limitMs: options.deadlineMs,
    });
}

async function resultOf(
  examiner: Pick<Examiner, 'resultOf'>,
  attempt: string | undefined,
  worker: number,
  status: WorkerStatus | null,
): Promise<Pick<WorkerView, 'result' | 'claim' | 'examining'>> {
  const known = attempt === undefined ? undefined : await examiner.resultOf(worker, attempt);
  if (known === 'under examination') return { result: null, claim: null, examining: true };
  if (known !== undefined) return { result: known, claim: null, examining: false };
  const said = status?.result ?? null;
  return said?.kind === 'task'
    ? { result: null, claim: said, examining: false }
    : { result: said, claim: null, examining: false };
}

function wordsOf(status: WorkerStatus | null): Pick<WorkerView, 'phase' | 'attempt' | 'setupFailure' | 'trouble'> {
  if (status === null) return { phase: null, attempt: null, setupFailure: null, trouble: null };
  const { phase, attempt, setupFailure, trouble } = status;
  return { phase, attempt, setupFailure, trouble };
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

/** Whether a worker's attempt was begun by an earlier orchestrator, or ours did not run for a while since it began. */
function createAbsenceWatch(): (state: RunState, worker: number) => boolean {
  let inherited: ReadonlySet<string> | undefined;
  const seen = new Map<number, { readonly name: string; readonly at: number }>();
  return (state, worker) => {
    inherited ??= new Set(Object.keys(state.workers).flatMap((key) => openAttempt(state, Number(key))?.name ?? []));
    const name = openAttempt(state, worker)?.name ?? '';
    if (seen.get(worker)?.name !== name) seen.set(worker, { name, at: systemClock.monotonic() });
    return inherited.has(name) || systemClock.wokeAt() > (seen.get(worker)?.at ?? 0);
  };
}

/** Whether a worker was seen at work, beyond the set-up, at what it was given last. */
function createSetupWatch(): (state: RunState, worker: number, status: WorkerStatus | null) => boolean {
  const seen = new Map<number, string>();
  return (state, worker, status) => {
    const { session, task } = state.workers[worker] ?? { session: '', task: null };
    const number = state.tasks[task ?? '']?.attempts.at(-1)?.number;
    const attempt = number === undefined ? task : attemptId(task ?? '', number);
    const work = `${session} ${attempt}`;
    if (status?.attempt === attempt && AT_WORK.has(status?.phase ?? 'idle')) seen.set(worker, work);
    return seen.get(worker) === work;
  };
}

/**
 * Workers enforce the limits of their work themselves. A task may stop its worker and forge its heartbeat: so an attempt
 * that lasts longer than all its limits together, and UNLIMITED_MS more, is overdue.
 */
function createAttemptWatch({ ports, options, graph }: RunContext): typeof overdue {
  const since = new Map<number, { readonly work: string; readonly at: number }>();
  const { limits, setup, graceMs } = options;
  const limitOf = (state: RunState, id: string): number => {
    const task = taskOf(graph, id);
    const work = limits.totalMs + limits.completionMs + (task?.verification?.timeoutMs ?? 0);
    const gates = state.settings.gates.reduce((sum, { timeoutMs }) => sum + timeoutMs + graceMs, 0);
    return (task === undefined ? gates : work + graceMs) + (setup?.timeoutMs ?? 0) + UNLIMITED_MS;
  };
  const overdue = (state: RunState, number: number, { session, task }: WorkerState): string | null => {
    if (task === null) {
      since.delete(number);
      return null;
    }
    const now = ports.clock.monotonic();
    const work = `${session} ${task} ${state.tasks[task]?.attempts.at(-1)?.number ?? ''}`;
    if (since.get(number)?.work !== work) since.set(number, { work, at: now });
    const [spent, limit] = [now - (since.get(number)?.at ?? now), limitOf(state, task)];
    if (spent <= limit) return null;
    return `${task} goes on for ${inSeconds(spent)}, and all its limits together are ${inSeconds(limit)}`;
  };
  return overdue;
}

async function readStatus(
  { ports, options }: RunContext,
  worker: number,
  before: Reading | undefined,
): Promise<Reading> {
  try {
    const raw = await ports.mail.readStatus(worker);
    if (raw === undefined) return { text: raw, status: null, unreadable: null };
    const text = options.redact(raw);
    if (before?.text === text) return before;
    return { text, status: workerStatus.parse(JSON.parse(text)), unreadable: null };
  } catch (error) {
    // A lack of descriptors in this process says nothing about the worker.
    if (isPassing(error)) return before ?? { text: undefined, status: null, unreadable: null };
    return { text: undefined, status: null, unreadable: reasonOf(error).slice(0, 500) };
  }
}

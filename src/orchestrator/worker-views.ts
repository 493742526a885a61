import { inSeconds, isPassing, reasonOf, systemClock } from '../lib/index.ts';
import { workerStatus } from '../protocol/index.ts';
import type { Phase, WorkerStatus } from '../protocol/index.ts';
import type { RunState, WorkerState } from '../state/index.ts';
import { taskOf } from '../tasks/index.ts';
import type { WorkerEnd } from './decide-losses.ts';
import type { Examiner } from './examine.ts';
import { isLive, openAttempt } from './plan.ts';
import type { WorkerView } from './plan.ts';
import type { RunContext } from './ports.ts';
import type { WorkerRegister } from './worker-register.ts';

const LAST_LINES = 3;
/** For checkouts and commits, which have no limit of their own, and for a slow machine. */
const UNLIMITED_MS = 15 * 60_000;
/** The phases after the set-up. */
const AT_WORK: ReadonlySet<Phase> = new Set(['running', 'verifying', 'gating']);

export interface ViewSources {
  readonly context: RunContext;
  readonly register: WorkerRegister;
  readonly examiner: Pick<Examiner, 'resultOf'>;
}

interface Reading {
  readonly text?: string;
  readonly status: WorkerStatus | null;
  readonly unreadable: string | null;
}

/** What earlier looks have seen in one session of a worker. */
interface Memory {
  readonly number: number;
  readonly session: string;
  reading: Reading;
  beat: number;
  beatSince: number;
  work: Work;
  /** Of its log, once it is dead: there is a look at it in each turn until it is replaced. */
  lastLines?: readonly string[];
}

/** The attempt or gate run that a worker has; null for nothing. */
interface Work {
  readonly id: string | null;
  /** Since its worker is up: before that, the worker may wait for a snapshot, and for the set-ups of others. */
  since: number;
  /** The same, by the clock that knows when the machine has stood still. */
  readonly systemSince: number;
  /** An earlier orchestrator has given it to the worker. */
  readonly inherited: boolean;
  /** The worker was seen at it, beyond the set-up. */
  pastSetup: boolean;
}

/** Looks at each live worker: its process or container, its status, and what is known of its result. */
export function createWorkerViews(sources: ViewSources): (state: RunState) => Promise<ReadonlyMap<number, WorkerView>> {
  const memories = new Map<number, Memory>();
  let isFirst = true;
  return async (state) => {
    const live = Object.entries(state.workers).filter(([, worker]) => isLive(worker));
    const views = live.map(async ([key, worker]) => {
      const number = Number(key);
      const work = workOf(sources, state, number, isFirst);
      const memory = remember(memories.get(number), { number, session: worker.session, work });
      memories.set(number, memory);
      return [number, await viewOf(sources, state, worker, memory)] as const;
    });
    isFirst = false;
    return new Map(await Promise.all(views));
  };
}

function workOf({ context }: ViewSources, state: RunState, worker: number, inherited: boolean): Work {
  return {
    id: openAttempt(state, worker)?.name ?? state.workers[worker]?.task ?? null,
    since: context.ports.clock.monotonic(),
    systemSince: systemClock.monotonic(),
    inherited,
    pastSetup: false,
  };
}

function remember(known: Memory | undefined, now: Pick<Memory, 'number' | 'session' | 'work'>): Memory {
  if (known?.session !== now.session)
    return { ...now, reading: { status: null, unreadable: null }, beat: -1, beatSince: now.work.since };
  if (known.work.id !== now.work.id) known.work = now.work;
  return known;
}

const NO_STATUS = { phase: null, attempt: null, usage: null, setupFailure: null, trouble: null, at: null };

async function viewOf(
  { context, register, examiner }: ViewSources,
  state: RunState,
  worker: WorkerState,
  memory: Memory,
): Promise<WorkerView> {
  const { number, session, work } = memory;
  if (worker.handle === null) work.since = context.ports.clock.monotonic();
  // The exit is read before the status: then the status of a dead worker is its last one.
  const exit = register.exitOf(session);
  memory.reading = await readStatus(context, number, memory.reading);
  const status = memory.reading.status?.session === session ? memory.reading.status : null;
  if (status !== null && status.attempt === work.id && AT_WORK.has(status.phase)) work.pastSetup = true;
  const { phase, attempt, usage, setupFailure, trouble, at: heartbeatAt } = status ?? NO_STATUS;
  const reportedFailure = context.ports.snapshots.replaceSetUp ? null : setupFailure;
  return {
    ...(await endOf(register, memory, exit)),
    retired: register.retiredFor(session),
    phase,
    attempt,
    setupFailure: exit?.setupFailure ?? reportedFailure,
    usage: attempt === work.id ? usage : null,
    trouble,
    heartbeatAt,
    silentMs: silenceOf(context, worker, status, memory),
    pastSetup: work.pastSetup,
    orchestratorAway: work.inherited || systemClock.wokeAt() > work.systemSince,
    takesCredentials: register.takesCredentials(session),
    ...(await resultOf(examiner, openAttempt(state, number)?.name, number, status)),
    unreadable: memory.reading.unreadable ?? overdue(context, state, worker.task, work),
  };
}

async function endOf(
  register: WorkerRegister,
  memory: Memory,
  exit: WorkerEnd | undefined,
): Promise<Pick<WorkerView, 'alive' | 'exit' | 'overLimit' | 'lastLines'>> {
  if (exit === undefined) return { alive: true, exit: null, overLimit: false, lastLines: [] };
  const { how, overLimit } = exit;
  memory.lastLines ??= await register.lastLines(memory.session, LAST_LINES);
  return { alive: false, exit: how, overLimit, lastLines: memory.lastLines };
}

/** By our own clock, since the last new heartbeat. A start may take long: silence counts from its end on. */
function silenceOf({ ports }: RunContext, worker: WorkerState, status: WorkerStatus | null, memory: Memory): number {
  const now = ports.clock.monotonic();
  const beat = status?.beat ?? -1;
  if (worker.handle === null || beat !== memory.beat) [memory.beat, memory.beatSince] = [beat, now];
  return now - memory.beatSince;
}

/**
 * Workers enforce the limits of their work themselves. A task may stop its worker and forge its heartbeat: so an attempt
 * that lasts longer than all its limits together, and UNLIMITED_MS more, is overdue.
 */
function overdue({ ports, options, graph }: RunContext, state: RunState, id: string | null, work: Work): string | null {
  if (id === null) return null;
  const { limits, setup, graceMs } = options;
  const task = taskOf(graph, id);
  const gatesMs = state.settings.gates.reduce((sum, { timeoutMs }) => sum + timeoutMs + graceMs, 0);
  const taskMs = limits.totalMs + limits.completionMs + (task?.verification?.timeoutMs ?? 0) + graceMs;
  const limit = (task === undefined ? gatesMs : taskMs) + (setup?.timeoutMs ?? 0) + UNLIMITED_MS;
  const spent = ports.clock.monotonic() - work.since;
  if (spent <= limit) return null;
  return `${id} goes on for ${inSeconds(spent)}, and all its limits together are ${inSeconds(limit)}`;
}

async function resultOf(
  examiner: Pick<Examiner, 'resultOf'>,
  attempt: string | undefined,
  worker: number,
  status: WorkerStatus | null,
): Promise<Pick<WorkerView, 'result' | 'claim' | 'examining'>> {
  const nothing = { result: null, claim: null, examining: false };
  const known = attempt === undefined ? undefined : await examiner.resultOf(worker, attempt);
  if (known === 'under examination') return { ...nothing, examining: true };
  if (known !== undefined) return { ...nothing, result: known };
  const reported = status?.result ?? null;
  if (reported?.kind === 'prepared') return nothing;
  return reported?.kind === 'task' ? { ...nothing, claim: reported } : { ...nothing, result: reported };
}

async function readStatus({ ports, options }: RunContext, worker: number, before: Reading): Promise<Reading> {
  try {
    const raw = await ports.mail.readStatus(worker);
    if (raw === undefined) return { status: null, unreadable: null };
    const text = options.redact(raw);
    if (before.text === text) return before;
    return { text, status: workerStatus.parse(JSON.parse(text)), unreadable: null };
  } catch (error) {
    // When this process has no descriptors left, that says nothing about the worker.
    return isPassing(error) ? before : { status: null, unreadable: reasonOf(error).slice(0, 500) };
  }
}

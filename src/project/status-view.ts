import { branchesWith } from '../git/index.ts';
import type { Environment } from '../lib/index.ts';
import type { WorkerHandle } from '../launchers/index.ts';
import { hasWork, workedMs } from '../orchestrator/index.ts';
import type { Phase } from '../protocol/index.ts';
import type { RunState, StateStore, TaskState, WorkerState } from '../state/index.ts';
import { readRun } from './left-work.ts';
import type { Project } from './project.ts';
import { wireList } from './wire.ts';
import { readStatus } from './work-now.ts';

/** A run as it is now: the saved state, corrected by which processes are alive. */
export interface StatusView extends Omit<RunState, 'workers'> {
  /** The process that drives the run; null when there is none. */
  readonly orchestrator: { readonly pid: number; readonly since: string } | null;
  /** When the run ended, or was last seen at work; null while an orchestrator drives it. */
  readonly endedAt: string | null;
  /** How long orchestrators have driven it, until its end or until now. */
  readonly workedMs: number;
  /** Branches that have all that is merged so far; empty while an orchestrator drives the run. */
  readonly mergedInto: readonly string[];
  readonly workers: Record<string, WorkerState & { readonly phase: Phase | null }>;
}

export async function viewStatus(project: Project, feature: string, env: Environment): Promise<StatusView> {
  return viewRun(project.store(feature), await readRun(project, feature), {
    listLive: wireList(env),
    // Refs to objects that are gone are no reason to show no status.
    holding: () => branchesWith(project.repository, feature).catch(() => []),
  });
}

interface Sources {
  listLive(this: void, state: RunState): Promise<readonly WorkerHandle[]>;
  /** The branches with all that is merged. */
  holding(this: void): Promise<readonly string[]>;
}

export async function viewRun(
  store: StateStore,
  before: RunState,
  { listLive, holding }: Sources,
): Promise<StatusView> {
  const holder = await store.holder();
  const live = new Set((await listLive(before)).map((handle) => handle.session));
  // Read again: a worker that has ended in order meanwhile is recorded by now.
  const state = (await store.read()) ?? before;
  const workers = await Promise.all(
    Object.entries(state.workers).map(async ([key, worker]) => {
      // A worker that has just been started may not be in the list yet.
      const started = worker.handle !== null || holder === undefined;
      const dead = !live.has(worker.session) && before.workers[key]?.session === worker.session && started;
      return [key, await lookAtWorker(store, Number(key), worker, dead)] as const;
    }),
  );
  const orchestrator = holder === undefined ? null : { pid: holder.pid, since: holder.since };
  const seen = { ...state, workers: Object.fromEntries(workers) };
  // Before a first task is merged, the branch is where it began: everything has that.
  const isAtRest = orchestrator === null && Object.values(state.tasks).some(({ merged }) => merged);
  const mergedInto = isAtRest ? await holding() : [];
  const now = Date.now();
  const told = truth(seen, orchestrator !== null, now);
  const until = told.endedAt === null ? now : Date.parse(told.endedAt);
  return { ...told, orchestrator, mergedInto, workedMs: workedMs(seen, until) };
}

type Seen = Omit<StatusView, 'orchestrator' | 'endedAt' | 'mergedInto' | 'workedMs'>;

/** A run without an orchestrator is not running, whatever its state says. */
function truth(seen: Seen, live: boolean, now: number): Seen & Pick<StatusView, 'endedAt'> {
  if (live && seen.status === 'running') return { ...seen, endedAt: null };
  const isGone = seen.status === 'running';
  const endedAt = isGone ? lastSign(seen, Object.values(seen.workers), now) : endOf(seen);
  const tasks = Object.fromEntries(
    Object.entries(seen.tasks).map(([id, task]) => [id, atRest(task, seen, now, isGone)]),
  );
  return { ...seen, endedAt, tasks, ...(isGone ? { status: 'stopped', cause: 'the orchestrator is gone' } : {}) };
}

/** No time passes for a task whose run is at rest. */
function atRest(task: TaskState, seen: Seen, now: number, isGone: boolean): TaskState {
  const open = task.attempts.at(-1);
  if (open !== undefined && hasWork(open)) return { ...ended(task, seen, now), cause: WAITS };
  const broken = isGone && (task.status === 'running' || task.status === 'verifying');
  if (!broken) return task;
  return { ...ended(task, seen, now), status: 'pending', cause: 'broken off: the orchestrator is gone' };
}

const WAITS = 'its work is done and waits for its verification, which --resume begins';

/** A complete run that is resumed has nothing to do: it ended with its last level. */
function endOf({ status, levels, updatedAt }: Seen): string {
  const ends = Object.values(levels).flatMap(({ completedAt }) => completedAt ?? []);
  return (status === 'complete' ? ends.toSorted().at(-1) : undefined) ?? updatedAt;
}

function ended(task: TaskState, seen: Seen, now: number): TaskState {
  const attempts = task.attempts.map((attempt) => {
    const worker = seen.workers[attempt.worker];
    return { ...attempt, endedAt: attempt.endedAt ?? lastSign(seen, worker === undefined ? [] : [worker], now) };
  });
  return { ...task, attempts };
}

/** The last heartbeat after the last snapshot. Workers write it, so a time in the future is ignored. */
function lastSign(seen: Seen, workers: readonly WorkerState[], now: number): string {
  const signs = workers.map(({ heartbeatAt }) => Date.parse(heartbeatAt ?? '')).filter((at) => at <= now);
  return new Date(Math.max(Date.parse(seen.updatedAt), ...signs)).toISOString();
}

async function lookAtWorker(
  store: StateStore,
  number: number,
  worker: WorkerState,
  dead: boolean,
): Promise<StatusView['workers'][string]> {
  const over = worker.status === 'STOPPED' || worker.status === 'CRASHED';
  if (over) return { ...worker, phase: null };
  const read = await readStatus(store.paths.worker(number).status);
  const status = read?.session === worker.session ? read : undefined;
  const heard = { ...worker, heartbeatAt: status?.at ?? worker.heartbeatAt };
  if (dead) return { ...heard, status: 'CRASHED', task: null, trouble: null, phase: null };
  if (status === undefined) return { ...worker, phase: null };
  return { ...heard, phase: status.phase, trouble: status.trouble };
}

import { isKnownName } from '../protocol/index.ts';
import type { Outcome } from '../protocol/index.ts';
import { agentNameOf, taskOf } from '../tasks/index.ts';
import { openAttempt, taskOfAttempt } from './plan.ts';
import type { ObservedTaskResult, Snapshot, WorkerView } from './plan.ts';

/** Outcomes that only an agent with an account of a model provider can have. */
const OF_AN_ACCOUNT: ReadonlySet<Outcome> = new Set(['rate-limited', 'usage-limit', 'credentials']);
/** Usage limits last a week at most. */
const FARTHEST_RESET_MS = 8 * 24 * 60 * 60_000;

/** The snapshot without claims that cannot be true: a task may write a status in its worker's name. */
export function credible(snapshot: Snapshot): Snapshot {
  const believed = snapshot.policy.singleUse ? withoutEarlyResults(snapshot) : snapshot;
  const views = [...believed.workers].map(([number, view]) => [number, credibleView(snapshot, number, view)] as const);
  return { ...snapshot, workers: new Map(views) };
}

/** What a worker for a single use reports counts when nothing of it is left. */
function withoutEarlyResults(snapshot: Snapshot): Snapshot {
  const views = [...snapshot.workers].map(
    ([number, view]) => [number, view.alive ? { ...view, claim: null, result: null } : view] as const,
  );
  return { ...snapshot, workers: new Map(views) };
}

function credibleView(snapshot: Snapshot, worker: number, view: WorkerView): WorkerView {
  if (view.examining) return underExamination(view);
  const forged = forgedSetup(snapshot, view);
  if (forged !== undefined) {
    const open = openAttempt(snapshot.state, worker)?.name;
    const result = open === undefined ? null : error(open, forged);
    return { ...view, setupFailure: null, unreadable: forged, claim: null, result };
  }
  const { result, trouble, usage } = view;
  const task = snapshot.state.workers[worker]?.task ?? null;
  return {
    ...view,
    ...(task !== null && hasAccount(snapshot, task) ? { trouble, usage } : { trouble: null, usage: null }),
    result: result?.kind === 'task' ? credibleResult(snapshot, result) : result,
  };
}

/**
 * While a reported result is examined, its worker does not count as dead, silent or overdue: otherwise the attempt would
 * count as lost.
 */
function underExamination(view: WorkerView): WorkerView {
  return {
    ...view,
    alive: true,
    exit: null,
    overLimit: false,
    lastLines: [],
    phase: null,
    attempt: null,
    setupFailure: null,
    usage: null,
    trouble: null,
    takesCredentials: false,
    silentMs: 0,
    result: null,
    unreadable: null,
  };
}

/** A set-up can fail only in a run that has one, and before the work begins. */
function forgedSetup({ policy }: Snapshot, view: WorkerView): string | undefined {
  if (view.setupFailure === null) return undefined;
  if (!policy.setup) return 'it says that a set-up failed, and this run has none';
  return view.pastSetup ? 'it says that its set-up failed, and was beyond it already' : undefined;
}

function credibleResult(snapshot: Snapshot, result: ObservedTaskResult): ObservedTaskResult {
  const task = taskOfAttempt(result.attempt);
  if (hasAccount(snapshot, task)) return { ...result, resetAt: timeOf(result.resetAt, snapshot.now) };
  const own = { ...result, usage: null, resetAt: null };
  if (!OF_AN_ACCOUNT.has(result.outcome)) return own;
  const detail = `its worker says "${result.outcome}", and no agent with an account was asked: ${result.detail}`;
  return { ...own, outcome: 'worker-error', detail, feedback: detail };
}

/** Only agents that we know ourselves report on their account; of any other command only the exit status is known. */
function hasAccount({ graph, state }: Snapshot, id: string): boolean {
  const task = taskOf(graph, id);
  return task !== undefined && task.run === null && isKnownName(agentNameOf(task, state.settings.agent));
}

/** The time in ISO form; null when the text is no time, or one that is too far away for a usage limit. */
function timeOf(text: string | null, now: number): string | null {
  const at = Date.parse(text ?? '');
  return at <= now + FARTHEST_RESET_MS ? new Date(at).toISOString() : null;
}

function error(attempt: string, detail: string): ObservedTaskResult {
  const nothing = {
    commit: null,
    usage: null,
    resetAt: null,
    fault: null,
    isGone: false,
    changed: [],
    embedded: [],
    checkout: null,
  };
  return { kind: 'task', attempt, outcome: 'worker-error', detail, feedback: detail, ...nothing };
}

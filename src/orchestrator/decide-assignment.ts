import { longestFirst } from '../tasks/index.ts';
import type { AttemptState, RunState, TaskState } from '../state/index.ts';
import { overRunCap } from './decide-cost.ts';
import { isPlaceFree, numbersOf } from './decide-numbers.ts';
import { attemptId, DONE, isLive } from './plan.ts';
import type { Action, Snapshot } from './plan.ts';
import { asksAgent, currentLevel, heldBack } from './survey.ts';
import type { HeldBack } from './survey.ts';

/** The longest ready task to any free worker; a new worker while there is more to do than free workers. */
export function assignTasks(snapshot: Snapshot): Action[] {
  const level = currentLevel(snapshot);
  if (level === undefined || findWorker(snapshot, new Set()).worker === undefined) return [];
  const held = heldBack(snapshot, level);
  const actions: Action[] = [];
  const taken = new Set<number>();
  let noneForAgents = overRunCap(snapshot.state) !== undefined;
  for (const task of longestFirst(snapshot.graph)) {
    if (task.level !== level || !isReady(snapshot, task.id, held)) continue;
    const isForAgent = asksAgent(snapshot, task.id);
    if (isForAgent && noneForAgents) continue;
    const { worker, start } = findWorker(snapshot, taken, isForAgent ? 'takes credentials' : 'any');
    if (worker === undefined) {
      if (!isForAgent) break;
      const replaced = replaceWorker(snapshot, taken);
      actions.push(...replaced);
      noneForAgents = replaced.length === 0;
      continue;
    }
    taken.add(worker);
    const base = snapshot.state.integrationTip;
    if (start !== undefined) actions.push({ kind: 'start-worker', worker, base, cause: start });
    actions.push(assignment(snapshot, task.id, worker));
  }
  return actions;
}

/** An idle worker that fits; else the number of one that may be started, and why. */
export function findWorker(
  snapshot: Snapshot,
  taken: ReadonlySet<number>,
  fit: 'any' | 'takes credentials' = 'any',
): { worker: number | undefined; start?: string } {
  const { state, workers, spares } = snapshot;
  const numbers = numbersOf(snapshot).filter((number) => !taken.has(number));
  const free = (number: number): boolean => {
    const worker = state.workers[number];
    if (worker === undefined || !isLive(worker) || worker.task !== null) return false;
    const view = workers.get(number);
    if (fit === 'takes credentials' && view?.takesCredentials !== true) return false;
    return view !== undefined && view.alive && view.phase !== 'stopping' && view.phase !== 'stopped';
  };
  const idle = numbers.find((number) => free(number) && state.workers[number]?.status === 'IDLE') ?? numbers.find(free);
  if (idle !== undefined) return { worker: idle };
  const startable = numbers.filter((number) => {
    const worker = state.workers[number];
    if (worker !== undefined && isLive(worker)) return false;
    return isPlaceFree(snapshot, number, taken);
  });
  const isWarm = (number: number): boolean => spares?.held.get(number) === 'ready';
  return startOf(state, startable.find(isWarm) ?? startable[0], isWarm);
}

function startOf(
  state: RunState,
  startable: number | undefined,
  isWarm: (number: number) => boolean,
): { worker: number | undefined; start?: string } {
  if (startable === undefined) return { worker: undefined };
  const before = state.workers[startable];
  const again =
    before === undefined || before.cause === DONE ? '' : `; its last life: ${before.cause ?? before.status}`;
  const warm = isWarm(startable) ? '; a spare waits' : '';
  return { worker: startable, start: `more ready work than free workers${again}${warm}` };
}

/** An idle worker that cannot be given credentials is killed, so that one that can takes its number. */
function replaceWorker(snapshot: Snapshot, taken: Set<number>): Action[] {
  const { worker } = findWorker(snapshot, taken);
  if (worker === undefined) return [];
  taken.add(worker);
  const cause = 'it cannot be given credentials, as it was started by an orchestrator that is gone or out of reach';
  return [{ kind: 'kill-worker', worker, cause }];
}

function isReady({ state, waits }: Snapshot, id: string, held: HeldBack): boolean {
  const task = state.tasks[id];
  return task?.status === 'pending' && !held(task) && !waits.has(id);
}

function assignment(snapshot: Snapshot, task: string, worker: number): Action {
  const known: TaskState | undefined = snapshot.state.tasks[task];
  const number = (known?.attempts.at(-1)?.number ?? 0) + 1;
  const cause = number === 1 ? 'ready' : `again, because: ${known?.cause ?? 'asked to retry'}`;
  const fresh = whyFresh(snapshot, { task, worker, number });
  return { kind: 'assign', task, worker, number, base: snapshot.state.integrationTip, fresh, cause };
}

interface AttemptOfWorker {
  readonly task: string;
  readonly worker: number;
  readonly number: number;
}

/**
 * Why an attempt needs a worktree without ignored files, but those of the set-up: files of an attempt that was not accepted
 * must not reach the next one. Null when the worktree may be used as it is.
 */
export function whyFresh(
  { state, graph, policy }: Pick<Snapshot, 'state' | 'graph' | 'policy'>,
  attempt: AttemptOfWorker,
): string | null {
  // Nothing has run in its worktree.
  if (policy.singleUse) return null;
  const failures = state.tasks[attempt.task]?.failures ?? 0;
  if (failures > 0) return `the task has failed ${failures === 1 ? 'once' : `${failures} times`}`;
  const before = lastOf({ state, graph }, attempt);
  if (before === undefined || before.outcome === 'accepted') return null;
  return `worker ${attempt.worker} had ${before.name} before, which was not accepted`;
}

/** The worker's last attempt before this one. */
function lastOf(
  { state, graph }: Pick<Snapshot, 'state' | 'graph'>,
  { task, worker, number }: AttemptOfWorker,
): (AttemptState & { readonly name: string }) | undefined {
  let last: (AttemptState & { readonly name: string }) | undefined;
  for (const { id } of graph.tasks) {
    for (const other of state.tasks[id]?.attempts ?? []) {
      if (other.worker !== worker || (id === task && other.number === number)) continue;
      if (last === undefined || other.begun >= last.begun) last = { ...other, name: attemptId(id, other.number) };
    }
  }
  return last;
}

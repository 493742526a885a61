import { overRunCap } from './decide-cost.ts';
import { numbersOf, twinOf } from './decide-numbers.ts';
import { currentLevel, survey } from './survey.ts';
import { hasWork, isLive } from './plan.ts';
import type { Action, Snapshot, SparesView } from './plan.ts';
import type { Phase } from '../protocol/index.ts';
import { taskOf } from '../tasks/index.ts';

const MIB = 1024 ** 2;
/** What a spare leaves to other programs: it takes some 20 MiB while it waits. */
const MAKE_ABOVE = 1024 * MIB;
/** With less than this, spares that wait are removed. */
const KEEP_ABOVE = 512 * MIB;

/** As many spares as starts are to come, one for each place at most; none where memory is short. */
export function keepSpares(snapshot: Snapshot): Action[] {
  const { spares, state } = snapshot;
  if (spares === null) return [];
  const toCome = overRunCap(state) === undefined ? Math.min(startsToCome(snapshot), state.settings.workers) : 0;
  const held = [...spares.held].filter(([, how]) => how !== 'going');
  const most = spares.freeBytes < KEEP_ABOVE ? 0 : toCome;
  if (held.length > most) return dropOne(held, most < toCome ? 'memory is short' : 'no more starts are to come');
  if (held.length === most || spares.freeBytes < MAKE_ABOVE || isStarting(snapshot)) return [];
  const worker = numberFor(snapshot, spares);
  if (worker === undefined) return [];
  const cause = `${startsToCome(snapshot)} starts are to come`;
  return [{ kind: 'make-spare', worker, base: state.integrationTip, cause }];
}

/** One that is being made is removed when it is there. */
function dropOne(held: readonly (readonly [number, string])[], cause: string): Action[] {
  const ready = held.filter(([, how]) => how === 'ready').map(([worker]) => worker);
  return ready.length === 0 ? [] : [{ kind: 'drop-spare', worker: Math.max(...ready), cause }];
}

/** Attempts, verifications and gate runs of which it is known now that they are to be started. */
function startsToCome(snapshot: Snapshot): number {
  const { state, graph, policy } = snapshot;
  const { pending, underWay } = survey(snapshot);
  const verified = (id: string): number => (policy.verifyAfresh && taskOf(graph, id)?.verification != null ? 1 : 0);
  const ofPending = pending.reduce((sum, { id }) => sum + 1 + verified(id), 0);
  const ofUnderWay = underWay.reduce((sum, { id, task }) => {
    const attempt = task.attempts.at(-1);
    if (attempt === undefined) return sum;
    return sum + (hasWork(attempt) ? Number(attempt.verifier === null) : verified(id));
  }, 0);
  return ofPending + ofUnderWay + (state.settings.gates.length === 0 ? 0 : gatesToCome(snapshot));
}

function gatesToCome(snapshot: Snapshot): number {
  const { state, graph } = snapshot;
  const current = currentLevel(snapshot);
  if (current === undefined) return 0;
  const left = graph.levels.filter((level) => level >= current).length;
  return left - (state.levels[current]?.gateRun == null ? 0 : 1);
}

const BEGINNING: ReadonlySet<Phase | null> = new Set([null, 'starting', 'idle', 'preparing'] as const);

/** A worker that has work and has not begun it: it needs the machine more than a spare does. */
function isStarting({ state, workers }: Snapshot): boolean {
  return [...workers].some(
    ([worker, { alive, retired, phase }]) =>
      alive && retired === null && BEGINNING.has(phase) && (state.workers[worker]?.task ?? null) !== null,
  );
}

/** At a place that has no spare: the number that is free, or will be when the worker that leaves it is removed. */
function numberFor(snapshot: Snapshot, { held }: SparesView): number | undefined {
  const { state, workers } = snapshot;
  const isTaken = (number: number): boolean => {
    const worker = state.workers[number];
    return worker !== undefined && isLive(worker) && (workers.get(number)?.retired ?? null) === null;
  };
  return numbersOf(snapshot).find(
    (number) => !isTaken(number) && !held.has(number) && !held.has(twinOf(snapshot, number) ?? number),
  );
}

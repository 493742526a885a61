import { eventOf } from '../../src/orchestrator/action-events.ts';
import { createWaits } from '../../src/orchestrator/backoff.ts';
import type { CheckoutSize } from '../../src/orchestrator/decide-checkout.ts';
import { decide } from '../../src/orchestrator/decide.ts';
import { decideMerges, tipOf } from '../../src/orchestrator/decide-merge.ts';
import { attemptId, formatActions, isGateRun, verificationId } from '../../src/orchestrator/plan.ts';
import type { Action, ActionOf, Policy, Snapshot, WorkerView } from '../../src/orchestrator/plan.ts';
import { firstState } from '../../src/orchestrator/first-state.ts';
import { reduce } from '../../src/orchestrator/reduce.ts';
import type { GateResult, TaskResult, VerifyResult } from '../../src/protocol/index.ts';
import type { RunEvent, RunSettings, RunState } from '../../src/state/index.ts';
import { parseGraph } from '../../src/tasks/index.ts';
import type { TaskGraph } from '../../src/tasks/index.ts';

interface Observed {
  readonly checkout: CheckoutSize;
  readonly changed: readonly string[];
  readonly embedded: readonly string[];
  readonly fault: string;
  readonly isGone: boolean;
}

/** A run in which only the decisions are real: actions become events and nothing else, and a test says what workers report. */
export interface World {
  readonly state: RunState;
  /** The actions of the next turn, as text; they are carried out. */
  turn(): string;
  /** Turns until nothing more is decided; all actions as text. */
  settle(): string;
  says(worker: number, change: Partial<WorkerView>): void;
  /** The worker's attempt at work ends so. */
  reports(worker: number, result: Partial<TaskResult> & Partial<Observed>): void;
  gatesAre(color: 'green' | 'red', worker: number, log?: string): void;
  gatesCannotRun(worker: number, error: string): void;
  /** The verification on this worker ends so. */
  verifies(worker: number, end: Partial<VerifyResult>): void;
  dies(worker: number, how?: string): void;
  /** A retired worker is gone; what it reported stays. */
  isRemoved(worker: number): void;
  merges(when: 'under way' | 'over'): void;
  /** From now on spares are made, when this much is free. */
  hasMemory(bytes: number): void;
  spareIs(worker: number, how: 'ready' | 'going'): void;
  wait(ms: number): void;
  stop(exit: number, cause: string): void;
  retry(task: string): void;
  /** Another orchestrator goes on with the run; its configuration may have been changed. */
  resume(wishes?: Partial<RunSettings>): void;
}

export const POLICY: Policy = {
  attempts: 2,
  losses: 3,
  backoffMs: 1000,
  silentMs: 5000,
  startFailures: 3,
  setup: true,
  singleUse: false,
  verifyAfresh: false,
};
export const EMPTY_VIEW: WorkerView = {
  alive: true,
  exit: null,
  overLimit: false,
  retired: null,
  phase: 'idle',
  attempt: null,
  heartbeatAt: null,
  silentMs: 0,
  result: null,
  claim: null,
  examining: false,
  setupFailure: null,
  pastSetup: false,
  usage: null,
  trouble: null,
  takesCredentials: true,
  orchestratorAway: false,
  unreadable: null,
  lastLines: [],
};

/** Commit ids that can be read: the name, filled up with zeros. */
export const commit = (name: string): string => Buffer.from(name).toString('hex').padEnd(40, '0').slice(0, 40);

export interface WorldTask {
  readonly id: string;
  readonly level?: number;
  readonly needs?: readonly string[];
  readonly creates?: readonly string[];
  readonly minutes?: number;
  readonly run?: string;
  readonly verify?: string;
  readonly attempts?: number;
  readonly satisfied?: boolean;
}

type OfSpares = ActionOf<'make-spare' | 'drop-spare'>;

export function createWorld(
  tasks: readonly WorldTask[],
  wishes: Partial<RunSettings> = {},
  policy: Partial<Policy> = {},
): World {
  const graph = graphOf(tasks);
  const settings: RunSettings = {
    workers: 2,
    mode: 'fake',
    modeByAuto: false,
    agent: 'claude',
    ownership: 'enforce',
    gates: [],
    caps: { run: null, task: null },
    ...wishes,
  };
  let state = firstState(graph, {
    settings,
    base: commit('base'),
    integration: 'mahabharatha/f/integration',
    runId: 'run',
    now: '2026-01-01T00:00:00.000Z',
  });
  let now = Date.parse('2026-01-01T00:00:00Z');
  let stop: Snapshot['stop'] = null;
  let merging = false;
  let retries: readonly string[] = [];
  let freeBytes: number | null = null;
  const held = new Map<number, 'making' | 'ready' | 'going'>();
  const views = new Map<number, WorkerView>();
  const waitsOf = createWaits({ now: () => now, monotonic: () => now }, POLICY, graph);

  const record = (event: RunEvent): void => {
    state = reduce(state, { at: new Date(now).toISOString(), ...event });
  };
  const carryOut = (action: Exclude<Action, OfSpares>): void => {
    switch (action.kind) {
      case 'record':
        return record(action.event);
      case 'start-worker': {
        const { worker } = action;
        views.set(worker, EMPTY_VIEW);
        held.delete(worker);
        const life = { session: `s${worker}`, mode: 'fake', branch: 'b', worktree: 'w' };
        return record(eventOf['start-worker'](action, life));
      }
      case 'kill-worker':
        views.delete(action.worker);
        return record(eventOf['kill-worker'](action));
      case 'retire-worker':
        views.set(action.worker, { ...(views.get(action.worker) ?? EMPTY_VIEW), retired: action.cause });
        return;
      case 'take-result':
        views.set(action.worker, { ...(views.get(action.worker) ?? EMPTY_VIEW), claim: null, examining: true });
        return;
      case 'assign': {
        const { task, number, worker } = action;
        views.set(worker, { ...EMPTY_VIEW, phase: 'running', attempt: attemptId(task, number) });
        return record(eventOf.assign(action));
      }
      case 'run-gates': {
        const started = eventOf['run-gates'](action, state);
        views.set(action.worker, { ...EMPTY_VIEW, phase: 'gating', attempt: started.attempt });
        return record(started);
      }
      case 'verify': {
        const { task, number, worker } = action;
        views.set(worker, { ...EMPTY_VIEW, phase: 'verifying', attempt: verificationId(task, number) });
        return record(eventOf.verify(action));
      }
      case 'merge-tasks': {
        const { level, tasks: merged } = action;
        const ends = merged.map((task) => ({ kind: 'merged' as const, task, tip: commit(`+${task}`) }));
        const recorded = decideMerges({ state, graph }, { level, onto: tipOf(state, level), ends });
        for (const { event } of recorded) record(event);
        return;
      }
      case 'publish':
        return record(eventOf.publish(action, state));
      case 'finish':
        return record(eventOf.finish(action, state));
    }
  };
  const turn = (): readonly Action[] => {
    const waits = waitsOf(state.tasks);
    const snapshot: Snapshot = {
      now,
      state,
      graph,
      policy: { ...POLICY, ...policy },
      workers: new Map(views),
      spares: freeBytes === null ? null : { held: new Map(held), freeBytes },
      merging,
      waits,
      retries,
      stop,
    };
    const actions = decide(snapshot);
    for (const action of actions) {
      if (action.kind === 'make-spare') held.set(action.worker, 'making');
      else if (action.kind === 'drop-spare') held.delete(action.worker);
      else carryOut(action);
    }
    return actions;
  };
  return {
    get state() {
      return state;
    },
    turn: () => formatActions(turn()),
    settle: () => {
      const all: Action[] = [];
      for (let round = 0; round < 100; round++) {
        const actions = turn();
        if (actions.length === 0) return formatActions(all);
        all.push(...actions);
      }
      throw new Error(`it never comes to rest:\n${formatActions(all.slice(-10))}`);
    },
    says: (worker, change) => views.set(worker, { ...(views.get(worker) ?? EMPTY_VIEW), ...change }),
    reports: (worker, { changed, embedded, fault, isGone, checkout, ...result }) => {
      const attempt = views.get(worker)?.attempt ?? '';
      views.set(worker, {
        ...EMPTY_VIEW,
        result: {
          kind: 'task',
          attempt,
          outcome: 'verified',
          detail: 'verified',
          feedback: '',
          commit: commit(attempt),
          usage: null,
          resetAt: null,
          ...result,
          changed: changed ?? [attempt.replace(/\.\d+$/, '.txt')],
          embedded: embedded ?? [],
          fault: fault ?? null,
          isGone: isGone ?? false,
          checkout: checkout ?? null,
        },
      });
    },
    gatesAre: (color, worker, log = 'assertion failed') => {
      const attempt = views.get(worker)?.attempt ?? '';
      const ok = color === 'green';
      const gate = {
        name: 'test',
        ok,
        required: true,
        detail: `exit status ${ok ? 0 : 1}`,
        output: ok ? '' : log,
        durationMs: 1,
      };
      const result: GateResult = { kind: 'gate', attempt, gates: [gate], error: null };
      views.set(worker, { ...EMPTY_VIEW, result });
    },
    gatesCannotRun: (worker, error) => {
      const attempt = views.get(worker)?.attempt ?? '';
      views.set(worker, { ...EMPTY_VIEW, result: { kind: 'gate', attempt, gates: [], error } });
    },
    verifies: (worker, end) => {
      const attempt = views.get(worker)?.attempt ?? '';
      const result: VerifyResult = { kind: 'verify', attempt, ok: true, detail: '', output: '', error: null, ...end };
      views.set(worker, { ...EMPTY_VIEW, result });
    },
    dies: (worker, how = 'killed by SIGKILL') => views.set(worker, { ...EMPTY_VIEW, alive: false, exit: how }),
    isRemoved: (worker) =>
      views.set(worker, { ...(views.get(worker) ?? EMPTY_VIEW), alive: false, exit: 'killed by SIGKILL' }),
    merges: (when) => (merging = when === 'under way'),
    hasMemory: (bytes) => (freeBytes = bytes),
    spareIs: (worker, how) => void held.set(worker, how),
    wait: (ms) => (now += ms),
    stop: (exit, cause) => (stop = { status: 'stopped', exit, cause }),
    retry: (task) => (retries = [task]),
    resume: (changed = {}) => {
      record({ type: 'run-resumed', runId: 'run', settings: { ...state.settings, ...changed }, pending: 0 });
      for (const [worker, { task }] of Object.entries(state.workers)) {
        if (!isGateRun(task)) continue;
        views.delete(Number(worker));
        record({ type: 'worker-exited', worker: Number(worker), expected: true, cause: 'it was at gates' });
      }
    },
  };
}

export function graphOf(tasks: readonly WorldTask[]): TaskGraph {
  const parsed = parseGraph({
    feature: 'f',
    tasks: tasks.map(
      ({ id, level, needs = [], creates = [`${id}.txt`], minutes, run, verify, attempts, satisfied }) => ({
        id,
        title: id,
        ...(level === undefined ? {} : { level }),
        dependencies: needs,
        files: { create: creates },
        estimate_minutes: minutes,
        run,
        attempts,
        satisfied,
        verification: verify === undefined ? undefined : { command: verify },
      }),
    ),
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.graph;
}

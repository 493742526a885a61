import type { CheckoutSize } from './decide-checkout.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { GateResult, Phase, TaskResult, Usage, VerifyResult } from '../protocol/index.ts';
import type { AttemptState, RunEvent, RunState, WorkerState } from '../state/index.ts';

/** A worker's result with what the repository says about its commit. */
export interface ObservedTaskResult extends TaskResult {
  /** Why the reported commit cannot be used; null when it is there and has the attempt's base as its only parent. */
  readonly fault: string | null;
  /** The worker has made the commit, and the repository has not all of it any more. */
  readonly isGone: boolean;
  /** Paths that differ between base and commit. */
  readonly changed: readonly string[];
  /** Folders that have become git repositories of their own: their files are not in the commit. */
  readonly embedded: readonly string[];
  /** Null without a commit that can be used. */
  readonly checkout: CheckoutSize | null;
}

/** What is known of one worker right now. */
export interface WorkerView {
  readonly alive: boolean;
  /** How it ended, if it did. */
  readonly exit: string | null;
  /** It ended because it exceeded a limit of its own, or could not start as its commit cannot be checked out. */
  readonly overLimit: boolean;
  /** Why it was asked to end: it has done its assignment, or costs too much; null while it may go on. */
  readonly retired: string | null;
  readonly phase: Phase | null;
  readonly attempt: string | null;
  /** As the worker wrote it: shown to people. */
  readonly heartbeatAt: string | null;
  /** Time since its last new heartbeat, or since its start. */
  readonly silentMs: number;
  readonly result: ObservedTaskResult | GateResult | VerifyResult | null;
  /** The result that it reports for a task's attempt; null when the result of its own attempt is under examination. */
  readonly claim: TaskResult | null;
  /** The result of its attempt is under examination. */
  readonly examining: boolean;
  readonly setupFailure: string | null;
  /** The set-up for its attempt is over. */
  readonly pastSetup: boolean;
  /** What its attempt has used so far, as it reports. */
  readonly usage: Usage | null;
  /** Why its agent waits for the model: only shown to people. */
  readonly trouble: string | null;
  /** The orchestrator was gone or suspended during its attempt: the worker may have seen no lease. */
  readonly orchestratorAway: boolean;
  /** It can be given an attempt that asks an agent. */
  readonly takesCredentials: boolean;
  /** Why its status cannot be used, if so. */
  readonly unreadable: string | null;
  /** The last lines of its log, when it is dead. */
  readonly lastLines: readonly string[];
}

/** How often things are tried, and how long they are waited for. */
export interface Policy {
  readonly attempts: number;
  readonly losses: number;
  readonly backoffMs: number;
  readonly silentMs: number;
  readonly startFailures: number;
  /** Workers have a set-up to run. */
  readonly setup: boolean;
  /** A worker does one assignment, and is ended before its result is weighed. */
  readonly singleUse: boolean;
  /** A task's verification runs on its commit, in a worker in which nothing else has run. */
  readonly verifyAfresh: boolean;
}

export interface StopRequest {
  readonly status: 'stopped' | 'paused';
  readonly exit: number;
  readonly cause: string;
}

/** Workers that were started before they are needed, by the number that they wait for. */
export interface SparesView {
  readonly held: ReadonlyMap<number, 'making' | 'ready' | 'going'>;
  /** Memory that the machine has left for programs. */
  readonly freeBytes: number;
}

/** Everything a decision is made from. */
export interface Snapshot {
  /** Wall clock. */
  readonly now: number;
  readonly state: RunState;
  readonly graph: TaskGraph;
  readonly policy: Policy;
  readonly workers: ReadonlyMap<number, WorkerView>;
  /** Null where none are made. */
  readonly spares: SparesView | null;
  /** Merges are under way. */
  readonly merging: boolean;
  /** Tasks that wait after a rate limit, and for how many ms more. */
  readonly waits: ReadonlyMap<string, number>;
  readonly retries: readonly string[];
  readonly stop: StopRequest | null;
}

/** What is to be done, each with its reason in words. */
export type Action =
  | { readonly kind: 'record'; readonly event: RunEvent }
  | {
      readonly kind: 'start-worker';
      readonly worker: number;
      /** The commit that it will most likely work on. */
      readonly base: string;
      readonly cause: string;
    }
  | {
      /** Starts a spare beside the loop. */
      readonly kind: 'make-spare';
      readonly worker: number;
      /** The commit that it will most likely work on. */
      readonly base: string;
      readonly cause: string;
    }
  | { readonly kind: 'drop-spare'; readonly worker: number; readonly cause: string }
  | { readonly kind: 'kill-worker'; readonly worker: number; readonly cause: string }
  | {
      /** Begins to end a worker that has done its assignment, or costs too much. */
      readonly kind: 'retire-worker';
      readonly worker: number;
      /** It has time to save its work. */
      readonly grace: boolean;
      readonly cause: string;
    }
  | {
      /** Examines what a worker reports, beside the loop, and takes its commit into the repository. */
      readonly kind: 'take-result';
      readonly worker: number;
      readonly result: TaskResult;
      /** The commit that the attempt started from. */
      readonly base: string;
      readonly cause: string;
    }
  | {
      readonly kind: 'assign';
      readonly task: string;
      readonly worker: number;
      readonly number: number;
      readonly base: string;
      /** Why ignored files are removed from the worktree, but those of the set-up; null when they stay. */
      readonly fresh: string | null;
      readonly cause: string;
    }
  | {
      readonly kind: 'run-gates';
      readonly level: number;
      readonly worker: number;
      readonly count: number;
      readonly commit: string;
      readonly cause: string;
    }
  | {
      readonly kind: 'verify';
      readonly task: string;
      readonly worker: number;
      readonly number: number;
      readonly commit: string;
      readonly cause: string;
    }
  | MergeAction
  | { readonly kind: 'publish'; readonly level: number; readonly tip: string; readonly cause: string }
  | FinishAction;

/** Merges accepted tasks one after the other, beside the loop. */
export interface MergeAction {
  readonly kind: 'merge-tasks';
  readonly level: number;
  readonly tasks: readonly string[];
  readonly cause: string;
}

export interface FinishAction {
  readonly kind: 'finish';
  readonly status: 'complete' | 'failed' | 'paused' | 'stopped';
  readonly exit: number;
  readonly cause: string;
  readonly resumeAt: string | null;
}

export type ActionOf<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>;

export const record = (event: RunEvent): ActionOf<'record'> => ({ kind: 'record', event });

export function finishWith(
  status: FinishAction['status'],
  exit: number,
  cause: string,
  resumeAt: string | null = null,
): FinishAction {
  return { kind: 'finish', status, exit, cause, resumeAt };
}

/** An end that is not expected is a crash, or a start that failed. */
export function workerExited(worker: number, expected: boolean, cause: string): ActionOf<'record'> {
  return record({ type: 'worker-exited', worker, expected, cause });
}

export type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

type FailedAttempt = Pick<EventOf<'attempt-failed'>, 'outcome' | 'detail' | 'charge'> &
  Partial<Pick<EventOf<'attempt-failed'>, 'feedback' | 'commit' | 'usage' | 'notBefore'>>;

export function attemptFailed(
  task: string,
  { number, worker }: Pick<AttemptState, 'number' | 'worker'>,
  { outcome, detail, charge, feedback = null, commit = null, usage = null, notBefore = null }: FailedAttempt,
): ActionOf<'record'> {
  return record({
    type: 'attempt-failed',
    task,
    attempt: number,
    worker,
    outcome,
    detail,
    feedback,
    commit,
    usage,
    charge,
    notBefore,
  });
}

export function isLive({ status }: WorkerState): boolean {
  return status === 'STARTING' || status === 'RUNNING' || status === 'IDLE';
}

/** The cause of a worker's end after its only assignment. */
export const DONE = 'it has done its assignment';

/** The cause in a worker's state while it has a task and its set-up still runs. */
export const SETTING_UP = 'its worktree is being set up';

export const attemptId = (task: string, number: number): string => `${task}.${number}`;
export const taskOfAttempt = (attempt: string): string => attempt.replace(/\.\d+$/, '');

export const numberOfAttempt = (attempt: string): number => Number(/\d+$/.exec(attempt)?.[0] ?? 0);

/** No task has such an id: theirs have no "@". */
const GATES = '@gates-of-level-';
export const gateAttemptId = (level: number, run: number): string => attemptId(`${GATES}${level}`, run);
export const isGateRun = (work: string | null): boolean => work?.startsWith(GATES) ?? false;

/** The agent's part of an open attempt is over, and its work is there to be verified. */
export const hasWork = ({ outcome, commit }: AttemptState): boolean => outcome === null && commit !== null;

/** What a worker calls the verification of an attempt's work. */
export const verificationId = (task: string, number: number): string => `${attemptId(task, number)}@verification`;
export const isVerification = (work: string): boolean => work.endsWith('@verification');

/** The attempt that a worker has, or the verification of one; undefined when it has neither, or gates. */
export function openAttempt(
  { tasks, workers }: RunState,
  worker: number,
): { readonly name: string; readonly base: string } | undefined {
  const id = workers[worker]?.task ?? '';
  const last = tasks[id]?.attempts.at(-1);
  if (last?.worker !== worker || last.outcome !== null) return undefined;
  if (hasWork(last)) return { name: verificationId(id, last.number), base: last.commit ?? last.base };
  return { name: attemptId(id, last.number), base: last.base };
}

/** One line for each action, so that tests can compare decisions. */
export function formatActions(actions: readonly Action[]): string {
  return actions.map(formatAction).join('\n');
}

function formatAction(action: Action): string {
  switch (action.kind) {
    case 'record':
      return `record ${Object.values(action.event)
        .filter((value) => typeof value !== 'object')
        .join(' ')}`;
    case 'start-worker':
    case 'kill-worker':
    case 'retire-worker':
    case 'make-spare':
    case 'drop-spare':
      return `${action.kind} ${action.worker}: ${action.cause}`;
    case 'take-result':
      return `take-result of ${action.result.attempt} from ${action.worker}: ${action.cause}`;
    case 'assign':
      return `assign ${attemptId(action.task, action.number)} to ${action.worker} on ${action.base.slice(0, 7)}: ${action.cause}${action.fresh === null ? '' : `; afresh, as ${action.fresh}`}`;
    case 'run-gates':
      return `run-gates of level ${action.level} with ${action.count} tasks on ${action.worker} at ${action.commit.slice(0, 7)}: ${action.cause}`;
    case 'verify':
      return `verify ${attemptId(action.task, action.number)} on ${action.worker} at ${action.commit.slice(0, 7)}: ${action.cause}`;
    case 'merge-tasks':
      return `merge-tasks ${action.tasks.join(' ')} into level ${action.level}: ${action.cause}`;
    case 'publish':
      return `publish level ${action.level} at ${action.tip.slice(0, 7)}: ${action.cause}`;
    case 'finish':
      return `finish ${action.status} ${action.exit}: ${action.cause}`;
  }
}

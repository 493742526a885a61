import type { Usage } from '../protocol/index.ts';
import type { AttemptOutcome, GateSummary, RunSettings, RunStatus } from './schema.ts';

/** What an ended attempt costs the task: one of its tries, one of its lost workers, a longer wait, or nothing. */
export type AttemptCharge = 'failure' | 'loss' | 'backoff' | 'nothing';

/**
 * Everything that happens in a run. The snapshot is the sum of its events; the event log, the live view and `--json`
 * show the same ones.
 */
export type RunEvent =
  | {
      readonly type: 'run-started';
      readonly feature: string;
      readonly runId: string;
      readonly base: string;
      readonly integration: string;
      readonly settings: RunSettings;
      readonly tasks: number;
      readonly levels: number;
    }
  | { readonly type: 'run-resumed'; readonly runId: string; readonly settings: RunSettings; readonly pending: number }
  | { readonly type: 'warning'; readonly text: string }
  | {
      /** A checkout for workers to start from is made. */
      readonly type: 'snapshot-begun';
      readonly commit: string;
      /** Of the set-up that runs in it; null for none. */
      readonly command: string | null;
    }
  | { readonly type: 'snapshot-made'; readonly commit: string; readonly ms: number }
  | {
      readonly type: 'worker-starting';
      readonly worker: number;
      readonly session: string;
      readonly mode: string;
      readonly branch: string;
      readonly worktree: string;
      readonly cause: string;
    }
  | {
      readonly type: 'worker-started';
      readonly worker: number;
      /** Which life of the worker: a start may end after the worker has been replaced. */
      readonly session: string;
      readonly pid: number | null;
      readonly containerId: string | null;
      readonly handle: Record<string, unknown>;
    }
  /** A resumed run has found a worker of the one before it alive. */
  | { readonly type: 'worker-kept'; readonly worker: number; readonly doing: string | null }
  | { readonly type: 'worker-phase'; readonly worker: number; readonly phase: 'setup' | 'idle' | 'busy' }
  | {
      /** Its agent waits for the model; reported once for each cause. */
      readonly type: 'worker-trouble';
      readonly worker: number;
      readonly task: string;
      readonly text: string;
    }
  | { readonly type: 'worker-recovered'; readonly worker: number; readonly task: string }
  | { readonly type: 'worker-exited'; readonly worker: number; readonly expected: boolean; readonly cause: string }
  | { readonly type: 'level-started'; readonly level: number; readonly base: string; readonly tasks: number }
  | {
      readonly type: 'attempt-started';
      readonly task: string;
      readonly attempt: number;
      readonly worker: number;
      readonly base: string;
      readonly cause: string;
    }
  | {
      /** What the attempt has used so far; told again when that has grown. */
      readonly type: 'attempt-spent';
      readonly task: string;
      readonly attempt: number;
      readonly usage: Usage;
    }
  | {
      readonly type: 'attempt-verifying';
      readonly task: string;
      readonly attempt: number;
      /** The agent's work, when it is verified by another worker than the attempt's. */
      readonly work?: { readonly commit: string; readonly detail: string; readonly usage: Usage | null };
    }
  | {
      /** A worker verifies the work of an attempt. */
      readonly type: 'verification-started';
      readonly task: string;
      readonly attempt: number;
      readonly worker: number;
      readonly commit: string;
      readonly cause: string;
    }
  | {
      /** The work is verified again. */
      readonly type: 'verification-lost';
      readonly task: string;
      readonly attempt: number;
      readonly charge: AttemptCharge;
      readonly cause: string;
    }
  | {
      readonly type: 'attempt-accepted';
      readonly task: string;
      readonly attempt: number;
      readonly worker: number;
      readonly commit: string;
      readonly detail: string;
      readonly usage: Usage | null;
    }
  | {
      readonly type: 'attempt-failed';
      readonly task: string;
      readonly attempt: number;
      readonly worker: number;
      readonly outcome: AttemptOutcome;
      readonly detail: string;
      readonly feedback: string | null;
      readonly commit: string | null;
      readonly usage: Usage | null;
      readonly charge: AttemptCharge;
      readonly notBefore: string | null;
    }
  | { readonly type: 'task-failed'; readonly task: string; readonly cause: string }
  | { readonly type: 'task-blocked'; readonly task: string; readonly by: string; readonly cause: string }
  | { readonly type: 'task-reset'; readonly task: string; readonly cause: string }
  | { readonly type: 'task-merged'; readonly level: number; readonly task: string; readonly tip: string }
  | { readonly type: 'task-unmerged'; readonly task: string; readonly cause: string }
  /** Objects of the integration branch are gone: it is at an earlier commit of the run again. */
  | { readonly type: 'branch-taken-back'; readonly branch: string; readonly to: string; readonly cause: string }
  /** The merged but not yet published work of a level cannot be used: its tasks are merged again. */
  | { readonly type: 'trial-dropped'; readonly level: number; readonly cause: string }
  | {
      readonly type: 'gates-started';
      readonly level: number;
      readonly attempt: string;
      readonly worker: number;
      readonly commit: string;
      readonly count: number;
      readonly cause: string;
    }
  | {
      readonly type: 'gates-passed';
      readonly level: number;
      readonly attempt: string;
      readonly count: number;
      readonly gates: readonly GateSummary[];
    }
  | {
      readonly type: 'gates-failed';
      readonly level: number;
      readonly attempt: string;
      readonly count: number;
      readonly gates: readonly GateSummary[];
      readonly log: string;
    }
  | { readonly type: 'gates-lost'; readonly level: number; readonly attempt: string; readonly cause: string }
  | {
      readonly type: 'level-published';
      readonly level: number;
      readonly tip: string;
      readonly tasks: readonly string[];
    }
  | {
      readonly type: 'level-finished';
      readonly level: number;
      readonly status: 'complete' | 'failed';
      readonly cause: string;
    }
  | {
      readonly type: 'run-finished';
      readonly status: Exclude<RunStatus, 'running'>;
      readonly exit: number;
      readonly cause: string;
      readonly resumeAt: string | null;
      /** Of the whole run so far. */
      readonly cost: Usage;
    };

export type RecordedEvent = RunEvent & { readonly at: string };

/** An event as it is in the log: a run's events are numbered from 1, without a gap. */
export type NumberedEvent = RecordedEvent & { readonly seq: number };

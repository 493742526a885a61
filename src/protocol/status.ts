import * as z from 'zod/mini';
import { reportedUsage } from './usage.ts';

/**
 * How an attempt ended. `verified` is merged; `rate-limited` waits; `usage-limit` pauses the run; `credentials` stops it;
 * `interrupted` was requested; `orphaned` had no orchestrator any more; after all others the task has failed and is tried
 * again with feedback.
 */
export const outcome = z.enum([
  'verified',
  'agent-failed',
  'timed-out',
  'idle',
  'no-change',
  'verification-failed',
  'rate-limited',
  'usage-limit',
  'credentials',
  'interrupted',
  'orphaned',
  'worker-error',
]);
export type Outcome = z.infer<typeof outcome>;

/** Longest status file that is read; workers write far shorter ones. */
export const STATUS_LIMIT = 512 * 1024;

/** Longest text in one field: the worker cuts longer ones, the orchestrator refuses them. */
export const TEXT_LIMIT = 16_000;
/** Shown at terminals, so without control characters. */
const text = z.pipe(
  z.string().check(z.maxLength(TEXT_LIMIT)),
  z.transform((value) => value.replaceAll(/[^\P{Cc}\n\t]/gu, '')),
);

/** Longest text of a worker's `trouble`: one line for people. */
export const TROUBLE_LIMIT = 200;
/** Without what would break a row of the live view, or make it look like another one. */
const line = z.pipe(
  z.string().check(z.maxLength(TROUBLE_LIMIT)),
  z.transform((value) => value.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')),
);

const taskResult = z.strictObject({
  kind: z.literal('task'),
  attempt: z.string(),
  outcome,
  /** One line for people: what happened, how much. */
  detail: text,
  /** For the next attempt: the output that shows what is wrong. */
  feedback: text,
  /** The attempt's work as one commit on its base, even of a failed one; null when nothing was changed. */
  commit: z.nullable(z.string().check(z.regex(/^[0-9a-f]{40,64}$/))),
  usage: z.nullable(reportedUsage),
  /** When a usage limit ends, if the agent has said so. */
  resetAt: z.nullable(z.string().check(z.maxLength(64))),
});
export type TaskResult = z.infer<typeof taskResult>;

const gateReport = z.strictObject({
  name: text,
  ok: z.boolean(),
  required: z.boolean(),
  detail: text,
  output: text,
  durationMs: z.number(),
});
export type GateReport = z.infer<typeof gateReport>;

const gateResult = z.strictObject({
  kind: z.literal('gate'),
  attempt: z.string(),
  gates: z.array(gateReport).check(z.maxLength(100)),
  /** Why the gates could not be run at all. */
  error: z.nullable(text),
});
export type GateResult = z.infer<typeof gateResult>;

const verifyResult = z.strictObject({
  kind: z.literal('verify'),
  attempt: z.string(),
  ok: z.boolean(),
  detail: text,
  /** The end of what it printed, when it failed. */
  output: text,
  /** Why it could not be run at all. */
  error: z.nullable(text),
});
export type VerifyResult = z.infer<typeof verifyResult>;

/** The worktree is as the assignment `prepare` wants it. */
const prepared = z.strictObject({
  kind: z.literal('prepared'),
  attempt: z.string(),
  /** Why it is not. */
  error: z.nullable(text),
});
export type Prepared = z.infer<typeof prepared>;

export const phase = z.enum([
  'starting',
  'setup',
  'idle',
  'preparing',
  'running',
  'verifying',
  'gating',
  'stopping',
  'stopped',
]);
export type Phase = z.infer<typeof phase>;

/** `outbox/status.json`: only the worker writes it, and it is read as untrusted. */
export const workerStatus = z.strictObject({
  version: z.literal(1),
  session: z.string().check(z.maxLength(64)),
  pid: z.int(),
  phase,
  /** The running attempt; null when idle. */
  attempt: z.nullable(z.string().check(z.maxLength(256))),
  /** Increases while the worker lives. */
  beat: z.int(),
  at: z.string().check(z.maxLength(64)),
  /** Tokens of the running attempt so far, and what they cost: an estimate until its agent tells its own sum. */
  usage: z.nullable(reportedUsage),
  result: z.nullable(z.discriminatedUnion('kind', [taskResult, gateResult, verifyResult, prepared])),
  /** The output of a failed set-up. It ends the run, unless work of tasks that is not published may be the reason. */
  setupFailure: z.nullable(text),
  /**
   * Why the agent is waiting for its model now. It is shown, and decides nothing. A worker of an earlier version, which a
   * resumed run takes over, does not report it.
   */
  trouble: z._default(z.nullable(line), null),
});
export type WorkerStatus = z.infer<typeof workerStatus>;

import { z } from 'zod';

export const usage = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  costUsd: z.number(),
});
export type Usage = z.infer<typeof usage>;

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
};

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    costUsd: one.costUsd + other.costUsd,
  };
}

/** A worker says what it likes; the sum of all that must stay a number. */
const amount = z.number().nonnegative().max(1e12);
const reportedUsage = z.strictObject({
  inputTokens: amount,
  outputTokens: amount,
  cacheReadTokens: amount,
  cacheWriteTokens: amount,
  costUsd: amount,
});

/**
 * How an attempt ended, kept apart because each is answered differently:
 * `verified` goes on to be merged; `rate-limited` waits; `usage-limit` pauses the run; `credentials` stops it;
 * `interrupted` was asked for, `orphaned` had no orchestrator any more; all others are failures of the task and come back with feedback.
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

/** Longest status file that is read; the longest that a worker writes is far below. */
export const STATUS_LIMIT = 512 * 1024;

/** Longest text that crosses the wall in one field; the worker cuts, the orchestrator insists. */
export const TEXT_LIMIT = 16_000;
/** It is shown at terminals: what would make one do something is taken out. */
const text = z
  .string()
  .max(TEXT_LIMIT)
  .transform((value) => value.replaceAll(/[^\P{Cc}\n\t]/gu, ''));

/** Longest of a worker's troubles: one line, for people alone. */
export const TROUBLE_LIMIT = 200;
/** A row of a live view is no place for what would break it, or make it look like another. */
const line = z
  .string()
  .max(TROUBLE_LIMIT)
  .transform((value) => value.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?'));

const taskResult = z.strictObject({
  kind: z.literal('task'),
  attempt: z.string(),
  outcome,
  /** One line for people: what happened, how much. */
  detail: text,
  /** What the next attempt should know: the output that shows what is wrong. */
  feedback: text,
  /** The attempt's work as one commit on its base, also when it failed; null when nothing was changed. */
  commit: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .nullable(),
  usage: reportedUsage.nullable(),
  /** When a usage limit ends, if the agent said so. */
  resetAt: z.string().max(64).nullable(),
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
  gates: z.array(gateReport).max(100),
  /** Set when the gates could not be run at all. */
  error: text.nullable(),
});
export type GateResult = z.infer<typeof gateResult>;

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

/** The worker's own file, `outbox/status.json`; only the worker writes it. Read as something untrusted. */
export const workerStatus = z.strictObject({
  version: z.literal(1),
  session: z.string().max(64),
  pid: z.number().int(),
  phase,
  /** The attempt at work; null when idle. */
  attempt: z.string().max(256).nullable(),
  /** Goes up while the worker lives. */
  beat: z.number().int(),
  at: z.string().max(64),
  /** Tokens and cost of the running attempt, as they stream. */
  usage: reportedUsage.nullable(),
  result: z.discriminatedUnion('kind', [taskResult, gateResult]).nullable(),
  /** A set-up that failed: the run stops with this output. */
  setupFailure: text.nullable(),
  /**
   * Why the agent at work does not get on with its model, as long as that is so. It is shown, and nothing is decided by
   * it. A worker of an earlier version, which a resumed run takes over, does not tell it.
   */
  trouble: line.nullable().default(null),
});
export type WorkerStatus = z.infer<typeof workerStatus>;

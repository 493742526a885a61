import { z } from 'zod';
import { gateSpec, NO_USAGE, outcome, usage } from '../protocol/index.ts';

export const STATE_VERSION = 1;

const isoTime = z.string();
const commitId = z.string().regex(/^[0-9a-f]{40,64}$/, 'not a commit id');

export const runStatus = z.enum(['running', 'paused', 'complete', 'failed', 'stopped']);
export type RunStatus = z.infer<typeof runStatus>;

export const taskStatus = z.enum(['pending', 'running', 'verifying', 'complete', 'failed', 'blocked']);
export type TaskStatus = z.infer<typeof taskStatus>;

/** What the orchestrator adds to a worker's own outcomes. */
export const attemptOutcome = z.enum([
  ...outcome.options,
  'accepted',
  'lost',
  'not-owned',
  'too-large',
  'over-cost',
  'conflict',
  'gate-failed',
]);
export type AttemptOutcome = z.infer<typeof attemptOutcome>;

const attemptState = z.strictObject({
  number: z.int().positive(),
  worker: z.int().nonnegative(),
  base: commitId,
  /** The worker that verifies its work now; null when none does. */
  verifier: z.int().nonnegative().nullable().default(null),
  /** How many events of the run came before it: the order of attempts, also when the clock was changed. Missing in older files. */
  begun: z.int().nonnegative().default(0),
  startedAt: isoTime,
  endedAt: isoTime.nullable(),
  /** Null while it runs. */
  outcome: attemptOutcome.nullable(),
  /** One line: what happened. */
  detail: z.string().nullable(),
  /** Its work, also when the attempt failed; null when it changed nothing. */
  commit: commitId.nullable(),
  usage: z.nullable(usage),
});
export type AttemptState = z.infer<typeof attemptState>;

const taskState = z.strictObject({
  title: z.string(),
  status: taskStatus,
  level: z.int(),
  /** The last few of them; `number` goes on counting. */
  attempts: z.array(attemptState),
  /** Attempts that count against `retry.attempts`. */
  failures: z.int(),
  /** Attempts that ended because a worker died: not the task's fault, but limited too. */
  losses: z.int(),
  /** Rate limits in a row: each waits longer than the last. */
  backoffs: z.int(),
  /** Of all its attempts; missing in older files. */
  cost: z._default(usage, NO_USAGE),
  /** The accepted commit. */
  commit: commitId.nullable(),
  /** Its commit is in the integration branch. */
  merged: z.boolean(),
  /** Why it is failed, blocked or waiting. */
  cause: z.string().nullable(),
  /** For the next prompt. */
  feedback: z.string().nullable(),
  /** Not before this time, after a rate limit. */
  notBefore: isoTime.nullable(),
});
export type TaskState = z.infer<typeof taskState>;

const workerState = z.strictObject({
  status: z.enum(['STARTING', 'RUNNING', 'IDLE', 'STOPPED', 'CRASHED']),
  mode: z.string(),
  session: z.string(),
  task: z.string().nullable(),
  heartbeatAt: isoTime.nullable(),
  branch: z.string(),
  worktree: z.string(),
  pid: z.int().nullable(),
  containerId: z.string().nullable(),
  /** By this the launcher finds the worker again; only the launcher reads it. */
  handle: z.record(z.string(), z.unknown()).nullable(),
  startedAt: isoTime,
  cause: z.string().nullable(),
  /** Why its agent waits for the model, as reported last; null when it does not. Missing in older files, as the next one. */
  trouble: z.string().nullable().default(null),
  /** All that was reported in this session, so that nothing is reported twice. */
  toldTroubles: z.array(z.string()).default([]),
  /** How many changes of its phase are recorded since it was given its work. Missing in older files. */
  toldPhases: z.int().nonnegative().default(0),
});
export type WorkerState = z.infer<typeof workerState>;

const gateSummary = z.strictObject({
  name: z.string(),
  ok: z.boolean(),
  required: z.boolean(),
  detail: z.string(),
});
export type GateSummary = z.infer<typeof gateSummary>;

/** The merged but not yet published work of a level, and what the gates said of it. */
const trial = z.strictObject({
  /** In the order in which they were merged. */
  tasks: z.array(z.string()),
  /** The merged commit after each of them. */
  tips: z.array(commitId),
  green: z.boolean(),
  /** How often the gates were red on the whole trial: a second run tells a flaky gate from a failure. */
  reds: z.int(),
  /** The search for the culprit: the first `good` tasks pass, the first `bad` do not. -1: it is not known whether what they are merged onto passes. */
  search: z.strictObject({ good: z.int(), bad: z.int() }).nullable(),
  /** What the gates said on the last red, for the culprit's next prompt. */
  redLog: z.string().nullable(),
});
export type Trial = z.infer<typeof trial>;

const gateRun = z.strictObject({
  attempt: z.string(),
  worker: z.int(),
  commit: commitId,
  /** How many of the trial's tasks are in it. */
  count: z.int(),
  /** Missing in older files. */
  startedAt: isoTime.nullable().default(null),
});
export type GateRun = z.infer<typeof gateRun>;

const levelState = z.strictObject({
  status: z.enum(['pending', 'running', 'gating', 'complete', 'failed']),
  /** What the level starts from; changes when a part of the level is published. */
  base: commitId.nullable(),
  trial: trial.nullable(),
  gateRun: gateRun.nullable(),
  gateRuns: z.int(),
  /** Workers in a row that died at the gates of this level. */
  gateLosses: z.int(),
  gates: z.array(gateSummary),
  startedAt: isoTime.nullable(),
  completedAt: isoTime.nullable(),
});
export type LevelState = z.infer<typeof levelState>;

const cap = z.strictObject({
  usd: z.number().positive(),
  /** On the command line: then it holds until another one is given. */
  asked: z.boolean(),
});
/** How much agents may cost. */
const caps = z.strictObject({
  /** In the whole run; without end when null. */
  run: cap.nullable(),
  /** In all attempts of one task. */
  task: cap.nullable(),
});
export type Caps = z.infer<typeof caps>;

/** The settings of a run since its start or last resume. */
export const runSettings = z.strictObject({
  workers: z.int().positive(),
  mode: z.string(),
  /** Mode auto has chosen the mode, and no person. */
  modeByAuto: z.boolean().default(false),
  agent: z.string(),
  ownership: z.enum(['enforce', 'warn', 'off']),
  gates: z.array(gateSpec),
  caps: caps.default({ run: null, task: null }),
});
export type RunSettings = z.infer<typeof runSettings>;

export const runState = z.strictObject({
  version: z.literal(STATE_VERSION),
  feature: z.string(),
  runId: z.string(),
  status: runStatus,
  /** Why it is paused, failed or stopped. */
  cause: z.string().nullable(),
  base: commitId,
  integration: z.string(),
  /** Where we have put the integration branch last: if it is elsewhere, another process or a person has moved it. */
  integrationTip: commitId,
  level: z.int(),
  settings: runSettings,
  tasks: z.record(z.string(), taskState),
  workers: z.record(z.string(), workerState),
  levels: z.record(z.string(), levelState),
  /** Of all attempts, those that are under way included. */
  cost: usage,
  warnings: z.array(z.string()),
  /** Workers in a row that ended before they were ready. */
  startFailures: z.int(),
  /** When a usage limit ends. */
  resumeAt: isoTime.nullable(),
  startedAt: isoTime,
  updatedAt: isoTime,
  /** How long orchestrators have driven it, without the one that drives it now. Missing in older files, as the next one. */
  drivenMs: z.number().nonnegative().default(0),
  /** When the one that drives it now took it up; null at rest. One that was killed has not written its end. */
  drivenSince: isoTime.nullable().default(null),
  /** The number of the last event in this sum; later events of the log have happened since. */
  events: z.int().nonnegative().default(0),
});
export type RunState = z.infer<typeof runState>;

/** @public used by scripts/generate.js */
export function runStateJsonSchema(): unknown {
  return z.toJSONSchema(runState, { target: 'draft-2020-12' });
}

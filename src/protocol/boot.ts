import * as z from 'zod/mini';

/** What a worker must know before its first assignment: `inbox/worker.json`. */
export const boot = z.strictObject({
  version: z.literal(1),
  runId: z.string(),
  feature: z.string(),
  worker: z.int().check(z.nonnegative()),
  /** One life of one worker: a status with another session is of an earlier life. */
  session: z.string(),
  /** The branch that the worktree is on. */
  branch: z.string(),
  /** The commit that is checked out already; null when the worker does that itself. */
  checkedOut: z.nullable(z.string()),
  /** Checked out while it waits for its handover, because its assignment most likely starts from it; null for nothing. */
  likelyBase: z.nullable(z.string()),
  /** The set-up has run in the worktree already: it runs again only for other lock files. */
  setUp: z.boolean(),
  /** It shares no object store with the host: its commits go there as `outbox/work.bundle`. */
  bundles: z.boolean(),
  /** It does one assignment, and is killed after that. */
  singleUse: z.boolean(),
  leaseMs: z.number(),
  setup: z.nullable(z.strictObject({ command: z.string(), timeoutMs: z.number() })),
  /** Between SIGTERM and SIGKILL, for what the worker runs. */
  stopGraceMs: z.number(),
});
export type Boot = z.infer<typeof boot>;

/** The orchestrator's sign of life: `shared/lease.json`. A worker that sees no change for `leaseMs` ends itself. */
export const lease = z.strictObject({ version: z.literal(1), owner: z.string(), beat: z.number() });
export type Lease = z.infer<typeof lease>;

import * as z from 'zod/mini';

const variables = z.record(z.string(), z.string());

/**
 * The first line on the stdin of a worker in a container: no file, no argument list and no `inspect` shows it. It has
 * nothing that is for the agent alone.
 */
export const handover = z.strictObject({
  version: z.literal(3),
  /** For everything that the worker runs. */
  env: variables,
  /** The token with which the worker proves to the egress proxy who it is; null without a proxy. */
  egress: z.nullable(z.string()),
  /** Values that must not appear in anything the worker says. */
  secrets: z.array(z.string()),
});
export type Handover = z.infer<typeof handover>;

/** A later line on the same stdin, before an attempt that asks an agent, and for this attempt alone. */
export const credentials = z.strictObject({
  version: z.literal(2),
  attempt: z.string(),
  /** Only the agent's process gets it. */
  agent: z.strictObject({
    env: variables,
    /** Written below the worker's home, for its user alone. */
    files: z.array(z.strictObject({ path: z.string(), content: z.string() })),
    /** Proves to the egress proxy that this worker may reach the model with credentials that the proxy adds; null for no such way. */
    model: z.nullable(z.strictObject({ worker: z.int(), token: z.string() })),
  }),
  /** Values that must not appear in anything the worker says. */
  secrets: z.array(z.string()),
});
export type Credentials = z.infer<typeof credentials>;
/** The same for all attempts of a run that ask this agent. */
export interface AgentAccess extends Pick<Credentials, 'secrets'> {
  readonly agent: Omit<Credentials['agent'], 'model'>;
  /** The egress proxy adds its credentials: it gets the way to the model. */
  readonly injected: boolean;
}

/** Set in the worker's environment when the first line of its stdin is the handover. */
export const HANDOVER_MARK = 'MAHABHARATHA_HANDOVER';

/**
 * Set in a container's environment: after so many seconds without a new lease its first process ends it, also when a task
 * has stopped the worker, and the orchestrator and the cleanup process are gone.
 */
export const DEADLINE_MARK = 'MAHABHARATHA_DEADLINE';

/** Paths inside a worker's container. */
export const INSIDE = {
  home: '/home/worker',
  worktree: '/workspace',
  gitDir: '/gitdir',
  /** Has the repository's object folders, by number; read-only. */
  objects: '/objects',
  inbox: '/run/mahabharatha/inbox',
  outbox: '/run/mahabharatha/outbox',
  shared: '/run/mahabharatha/shared',
  /** A volume with the socket of the egress proxy. */
  egress: '/run/mahabharatha/egress',
  /** On this port of the loopback the worker's door leads to that proxy. */
  proxyPort: 3128,
  /** One folder for each shared cache. */
  caches: '/caches',
} as const;

import { z } from 'zod';

const variables = z.record(z.string(), z.string());

/**
 * What a walled-in worker gets as the first line of its stdin: there it is in no file, no argument list and nothing
 * that `inspect` shows. Nothing of it is the agent's alone.
 */
export const handover = z.strictObject({
  version: z.literal(2),
  /** For everything that the worker runs. */
  env: variables,
  /** The way out is the egress proxy: the worker opens the door to it, and proves with this token who it is. */
  egress: z.string().nullable(),
  /** What new files are closed to, where workers that are other users share caches as a group; null is as it is. */
  umask: z.int().nullable(),
  /** Values that must not appear in anything the worker says. */
  secrets: z.array(z.string()),
});
export type Handover = z.infer<typeof handover>;

/** A later line on the same stdin, before an attempt that asks an agent: what the agent of this one attempt has. */
export const credentials = z.strictObject({
  version: z.literal(1),
  attempt: z.string(),
  /** For the agent's process alone. */
  agent: z.strictObject({
    env: variables,
    /** Written below the worker's home, for its user alone. */
    files: z.array(z.strictObject({ path: z.string(), content: z.string() })),
  }),
  /** Values that must not appear in anything the worker says. */
  secrets: z.array(z.string()),
});
export type Credentials = z.infer<typeof credentials>;
/** The same, before it is known which attempt it is for. */
export type AgentAccess = Pick<Credentials, 'agent' | 'secrets'>;

/** Set in the worker's environment when the first line of its stdin is the handover. */
export const HANDOVER_MARK = 'MAHABHARATHA_HANDOVER';

/** Where things are inside a worker's container. */
export const INSIDE = {
  home: '/home/worker',
  worktree: '/workspace',
  gitDir: '/gitdir',
  /** The repository's object folders, one below the other by number; read-only. */
  objects: '/objects',
  inbox: '/run/mahabharatha/inbox',
  outbox: '/run/mahabharatha/outbox',
  shared: '/run/mahabharatha/shared',
  /** A volume; the egress proxy listens on `proxy.sock` in it. */
  egress: '/run/mahabharatha/egress',
  /** Where the worker lets what it runs find that proxy. */
  proxyPort: 3128,
  /** One folder for each shared cache. */
  caches: '/caches',
} as const;

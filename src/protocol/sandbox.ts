import { z } from 'zod';

/** Where things are in a sandbox. */
export const SANDBOX = {
  /** Node and the agent: a volume that all sandboxes share, read-only. */
  runtime: '/opt/mahabharatha',
  /** The agent's own, closed to the programs that it starts. */
  own: '/run/mahabharatha',
  workspace: '/workspace',
  home: '/home/sandbox',
  tmp: '/tmp',
} as const;

/** Set for the agent alone: without it, it does not start. */
export const SANDBOX_MARK = 'MAHABHARATHA_SANDBOX';

/** What an agent is asked to run. */
export interface StartWish {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Where it begins, as its user: when that is gone, in `home`. */
  readonly cwd: string;
  readonly home: string;
  readonly uid: number;
  /** Base64; null: its stdin is /dev/null. */
  readonly stdin: string | null;
  /** Null: no limit but that of the host. */
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  /** What its user has left in these folders goes at its end. */
  readonly clears: readonly string[];
  /** How much output may be under way at first, in bytes. */
  readonly credit: number;
}

/** How an execution has ended. */
export const sandboxEnd = z.object({
  /** Null when a signal ended it. */
  code: z.number().int().nullable(),
  signal: z.string().nullable(),
  endedBy: z.enum(['itself', 'timeout', 'killed', 'not-started']),
  /** Why it could not be started. */
  problem: z.string().nullable(),
  /** Null when it could not be seen. */
  cwd: z.string().nullable(),
  durationMs: z.number(),
  cpuMs: z.number(),
  /** The most memory that it and all that it started had at one time, as far as looks every few milliseconds can see. */
  peakBytes: z.number(),
  /** The kernel has killed a process meanwhile because the memory was used up. */
  outOfMemory: z.boolean(),
});
export type SandboxEnd = z.infer<typeof sandboxEnd>;

/** A file operation; it is done as this user. Paths are absolute, and no link in them is followed. */
export type FileCall =
  | {
      readonly op: 'write';
      readonly uid: number;
      /** The folder that the path must stay in. */
      readonly root: string;
      readonly path: string;
      /** Base64. */
      readonly content: string;
      /** A further part of a file that an earlier call has begun. */
      readonly more: boolean;
      /** The last part: the file takes its place. */
      readonly last: boolean;
      /** Rights of the file. */
      readonly mode: number;
    }
  | {
      readonly op: 'read';
      readonly uid: number;
      readonly root: string;
      readonly path: string;
      readonly from: number;
      readonly bytes: number;
    }
  | { readonly op: 'remove'; readonly uid: number; readonly root: string; readonly path: string };

export const fileAnswer = z.union([
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
  z.object({
    size: z.number().optional(),
    content: z.string().optional(),
  }),
]);
export type FileAnswer = z.infer<typeof fileAnswer>;

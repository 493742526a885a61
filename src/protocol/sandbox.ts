import * as z from 'zod/mini';

/** Where things are in a sandbox. */
export const SANDBOX = {
  /** Node and the agent: a volume that all sandboxes share, read-only. */
  runtime: '/opt/mahabharatha',
  /** The agent's own, closed to the programs that it starts. */
  own: '/run/mahabharatha',
  workspace: '/workspace',
  home: '/home/sandbox',
  tmp: '/tmp',
  /** Where programs of several users run: for their files when they have filled the folder of all. The agent alone writes to it. */
  reserve: '/run/programs',
  /** Where cache volumes are given to their user, and emptied. No image has it: an engine would give its owner to an empty volume. */
  caches: '/run/mahabharatha/caches',
} as const;

/** Set for the agent alone: without it, it does not start. */
export const SANDBOX_MARK = 'MAHABHARATHA_SANDBOX';
/** Its value where programs of several users run side by side. */
export const SHARED_MARK = 'shared';

/** With one of these variables bash does not read the file that BASH_ENV names, or may not. */
export const WITHOUT_BASH_ENV: readonly string[] = ['POSIXLY_CORRECT', 'POSIX_PEDANTIC', 'SHELLOPTS'];

/** An interpreter that stays and forks for each program. */
export interface ForkServerWish {
  /** The extension of the program in the runtime volume that makes it one. */
  readonly kind: 'py' | 'rb';
  /** The interpreter and its options. */
  readonly program: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** A path as long as that of a program. */
  readonly file: string;
}

/** A program for a fork server. */
export interface ForkWish {
  /** That of its interpreter. */
  readonly program: readonly string[];
  readonly file: string;
  readonly args: readonly string[];
}

/** Whether a fork server is there. */
export const forkServerAnswer = z.object({ isReady: z.boolean() });

/** What an agent is asked to run. */
export interface StartWish {
  readonly argv: readonly [string, ...string[]];
  /** In place of `argv` while the fork server is there. */
  readonly fork?: ForkWish | null;
  readonly env: Readonly<Record<string, string>>;
  /** Where it begins, as its user: when that is gone, in `home`. */
  readonly cwd: string;
  readonly home: string;
  readonly uid: number;
  /** It is a bash that reads our prelude, which does what is to be done before it runs. */
  readonly isShell?: boolean;
  /** Its files are for its user alone. */
  readonly isPrivate: boolean;
  /** The limit of the memory that each of its processes has for itself; null: that of the container. */
  readonly dataBytes: number | null;
  /** Base64; null: its stdin is /dev/null. */
  readonly stdin: string | null;
  /** Null: no limit but that of the host. */
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  /** What its user has left in these folders goes at its end. */
  readonly clears: readonly string[];
  /** How much output may be under way at first, in bytes. */
  readonly credit: number;
  /** What will probably be the next program: its process is started ahead, and waits. */
  readonly ahead?: ProgramAhead | null;
  /** Where that one will be. */
  readonly placeAhead?: PlaceAhead | null;
}

/** The home and the file of a program, which are made ahead, for its user alone. */
export interface PlaceAhead {
  readonly uid: number;
  readonly home: string;
  readonly file: string;
}

/** What a process must know of its program before that comes. */
export interface ProgramAhead extends Pick<
  StartWish,
  'argv' | 'env' | 'cwd' | 'home' | 'uid' | 'isPrivate' | 'dataBytes'
> {
  /**
   * The program as a command that waits itself, for a line at descriptor 3, with variables for that; null: a shell waits, and
   * becomes the program. Every process of the container can read the command: the names in it must be there already.
   */
  readonly waiting: Pick<StartWish, 'argv' | 'env'> | null;
}

/** How an execution has ended. */
export const sandboxEnd = z.object({
  /** Null when a signal ended it. */
  code: z.nullable(z.int()),
  signal: z.nullable(z.string()),
  endedBy: z.enum(['itself', 'timeout', 'killed', 'not-started']),
  /** Why it could not be started. */
  problem: z.nullable(z.string()),
  /** Null when it could not be seen. */
  cwd: z.nullable(z.string()),
  durationMs: z.number(),
  cpuMs: z.number(),
  /** The most memory that it and all that it started had at one time, as far as looks every few milliseconds can see. */
  peakBytes: z.number(),
  /** The kernel has killed a process meanwhile because the memory was used up. */
  outOfMemory: z.boolean(),
});
export type SandboxEnd = z.infer<typeof sandboxEnd>;

/** Where programs of a sandbox find the egress proxy, and what the agent proves itself with to it. */
export interface DoorWish {
  readonly port: number;
  readonly client: number;
  readonly token: string;
  readonly reach: string | undefined;
}

/** A file operation; it is done as this user. Paths are absolute, and no link in them is followed. */
export type FileCall =
  | {
      readonly op: 'write';
      readonly uid: number;
      /** Made before: a folder for the user alone. To become another user twice takes longer than to write a small file. */
      readonly home?: string;
      /** The folder that the path must stay in. */
      readonly root: string;
      readonly path: string;
      /** Tells the parts of one upload from those of another one to the same path. */
      readonly upload: number;
      /** Base64. */
      readonly content: string;
      /** A further part of a file that an earlier call has begun. */
      readonly more: boolean;
      /** The last part: the file takes its place. */
      readonly last: boolean;
      /** Into the file that is there, and not in its place: a process that waits has opened it. */
      readonly overwrites?: boolean;
      /** Rights of the file. */
      readonly mode: number;
      /** Rights of the folders that are made for it. */
      readonly folderMode?: number;
    }
  | {
      readonly op: 'read';
      readonly uid: number;
      readonly root: string;
      readonly path: string;
      readonly from: number;
      readonly bytes: number;
    }
  | { readonly op: 'remove'; readonly uid: number; readonly root: string; readonly path: string }
  | {
      readonly op: 'list';
      readonly uid: number;
      readonly root: string;
      /** The root, or a folder below. */
      readonly path: string;
      /** Null: a new listing; otherwise the next page of that one. */
      readonly walk: number | null;
    }
  | { readonly op: 'make-root'; readonly uid: number; readonly root: string }
  /** A folder for the user alone. */
  | { readonly op: 'make-home'; readonly uid: number; readonly home: string }
  | {
      readonly op: 'measure';
      readonly uid: number;
      readonly folders: readonly string[];
      /** What they may hold together on the disk. */
      readonly bytes: number;
      /** Null: from the beginning; otherwise the next part of that measuring. */
      readonly walk: number | null;
    }
  | { readonly op: 'write-whole'; readonly uid: number; readonly root: string; readonly files: readonly WholeFile[] }
  | { readonly op: 'match'; readonly uid: number; readonly root: string; readonly files: readonly MatchedFile[] };

/** A file that fits into one frame, with others. */
export interface WholeFile {
  readonly path: string;
  /** Base64. */
  readonly content: string;
  readonly mode: number;
}

/** A file that may be there already. */
export interface MatchedFile {
  readonly path: string;
  readonly sha256: string;
  readonly mode: number;
}

const fileEntry = z.object({
  /** Below the folder that is listed. */
  path: z.string(),
  kind: z.enum(['file', 'folder', 'link', 'other']),
  size: z.number(),
  mode: z.int(),
  sha256: z.nullable(z.string()),
  /** Why it has no hash, or why nothing below it is listed. */
  problem: z.nullable(z.string()),
});
export type FileEntry = z.infer<typeof fileEntry>;

const fileError = z.object({ code: z.string(), message: z.string() });

export const fileAnswer = z.union([
  z.object({ error: fileError }),
  z.object({
    size: z.optional(z.number()),
    content: z.optional(z.string()),
    entries: z.optional(z.array(fileEntry)),
    /** Of a listing, or a measuring, of which there is more. */
    walk: z.optional(z.nullable(z.int())),
    needed: z.optional(z.array(z.string())),
    /** Why folders that were measured count as too large. */
    problem: z.optional(z.nullable(z.string())),
    /** One for each file of the call, in order; null: it was written. */
    errors: z.optional(z.array(z.nullable(fileError))),
    /** To how many files of the call the answer applies. */
    done: z.optional(z.int()),
  }),
]);
export type FileAnswer = z.infer<typeof fileAnswer>;

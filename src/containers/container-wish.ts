import type { Attachment, ContainerSpec, Mount } from '../engines/index.ts';
import type { Output } from './output.ts';
import type { Owner } from './owner.ts';

/** A container that is wanted. What is the same for every container of ours is not in here. */
export interface ContainerWish extends Omit<ContainerSpec, 'name' | 'env' | 'stdin' | 'logBytes'> {
  readonly owner: Owner;
  readonly role: string;
  readonly session: string;
  /** The first free one is taken. */
  readonly names: readonly [string, ...string[]];
  /** For the first program, which gets none of the image's variables. `inspect` shows it: no secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Its number among the clients of the owner's egress proxy; null for a container without a way out. */
  readonly client: number | null;
  /** The only hosts of the owner's allowlist that it may reach, as `reachText` writes them; left out: all of them. */
  readonly reach?: string | undefined;
  /** The first line of its stdin; null or undefined for none. */
  readonly firstLine: ((known: KnownAtStart) => Promise<string | undefined>) | null;
  readonly upkeep: Upkeep;
}

/** What is known of a container when it is made. */
export interface KnownAtStart extends Proofs {
  readonly imageEnv: Readonly<Record<string, string>>;
}

/** What a container proves itself with to the egress proxy. */
export interface Proofs {
  /** Proves to the egress proxy which client it is; null without a way out. */
  readonly token: string | null;
  /** Proves that it may reach the model with credentials that the proxy adds; null where the proxy has none. */
  readonly modelToken: string | null;
}

/** Of a container without a way out. */
export const NO_PROOFS: Proofs = { token: null, modelToken: null };

/** What a container leaves on the host: its output, its folders, and how much of the disk they may take. */
export interface Upkeep {
  /** Null when it writes no folder of the host. */
  readonly disk: DiskLimit | null;
  readonly memoryBytes: number;
  /** Takes its output, from its start on. */
  keep(attachment: Attachment): Output;
  /** Takes the output of a container that another process has started. */
  resume(id: string): Output;
  /** Makes room after the container has exceeded its disk limit. */
  empty(): Promise<void>;
}

export interface DiskLimit {
  /** Folders of the host that it writes. */
  readonly folders: readonly [string, ...string[]];
  readonly bytes: number;
  /** The setting that says so. */
  readonly setting: string;
}

/** A container that was started, here or by another process. */
export interface StartedContainer {
  readonly owner: Owner;
  readonly id: string;
  /** Distinguishes it from a container of the same id in a new engine. */
  readonly createdAt: string;
  readonly upkeep: Upkeep;
}

/** How a container ended. Code and signal are null when that could not be seen. */
export interface ContainerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The limit of its own that ended it, in words. */
  readonly overLimit?: string;
}

/** A private folder in memory. Programs may run from it: they may run from the worktree anyway, and builds unpack tools there. */
export function tmpfs(
  target: string,
  mode: number,
  { bytes, uid, gid }: { readonly bytes: number; readonly uid: number; readonly gid: number },
): Mount {
  return { kind: 'tmpfs', target, bytes, mode, uid, gid, exec: true };
}

export function bind(source: string, target: string, readOnly: boolean): Mount {
  return { kind: 'bind', source, target, readOnly };
}

import { systemClock } from '../lib/index.ts';
import { whichToRemove } from './prune.ts';
import type { MakeSnapshot } from './make.ts';
import type { Snapshot, SnapshotStore } from './store.ts';

/** With more files that differ a new snapshot is made, which costs one full checkout and set-up. */
const MOST_CHANGED = 500;
/** A checkout of fewer files costs less than a snapshot of them, when there is no set-up. */
const FEW_FILES = 2000;
/** Characters that separate the folders of an overlay. */
const NO_LAYER = /[\s,:"\\]/;

export type SnapshotNews =
  | { readonly type: 'snapshot-begun'; readonly commit: string; readonly command: string | null }
  | { readonly type: 'snapshot-made'; readonly commit: string; readonly ms: number }
  | { readonly type: 'warning'; readonly text: string };

export interface Wanted {
  /** Changes with all that a snapshot depends on beside its commit: lock files, the set-up, the image, copied files. */
  readonly key: string;
  readonly files: number;
}

export interface SnapshotsOptions {
  readonly store: SnapshotStore;
  /** The command of the set-up; null without one. */
  readonly command: string | null;
  readonly limitBytes: number;
  wanted(commit: string): Promise<Wanted>;
  /** The number of files that differ; undefined when one of the commits is gone. */
  changedBetween(from: string, to: string): Promise<number | undefined>;
  /** The snapshots that containers of any run use. */
  inUse(): Promise<ReadonlySet<string>>;
  readonly make: MakeSnapshot;
}

interface Asking {
  readonly runId: string;
  readonly stop: AbortSignal;
  news(event: SnapshotNews): void;
}

/** The snapshots that workers of a run start from. */
export interface Snapshots {
  /** What a worktree at this commit begins with; null for an empty one, in which the worker does all itself. */
  of(commit: string, asking: Asking): Promise<Snapshot | null>;
  /** The set-up runs in snapshots, and not in workers. */
  readonly replaceSetUp: boolean;
}

export const NO_SNAPSHOTS: Snapshots = { of: async () => null, replaceSetUp: false };

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  let isRefused = NO_LAYER.test(options.store.top);
  const known = new Map<string, Promise<Snapshot | null>>();
  let queue: Promise<unknown> = Promise.resolve();
  const find = async (commit: string, asking: Asking): Promise<Snapshot | null> => {
    if (isRefused) return null;
    const found = await findOrMake(options, commit, asking);
    if (found !== 'refused') return found;
    isRefused = true;
    asking.news({ type: 'warning', text: REFUSED });
    return null;
  };
  return {
    get replaceSetUp() {
      return !isRefused && options.command !== null;
    },
    of: (commit, asking) => {
      const before = known.get(commit);
      if (before !== undefined) return before;
      // One after the other: the snapshot of one commit may serve the next.
      const asked = queue.then(() => find(commit, asking));
      known.set(commit, asked);
      queue = asked.catch(() => known.delete(commit));
      return asked;
    },
  };
}

const REFUSED =
  'the engine takes no overlays of folders, so each attempt makes its own checkout and runs the set-up itself';

async function findOrMake(
  options: SnapshotsOptions,
  commit: string,
  { runId, stop, news }: Asking,
): Promise<Snapshot | 'refused' | null> {
  const { store, command } = options;
  const { key, files } = await options.wanted(commit);
  if (command === null && files < FEW_FILES) return null;
  const near = await nearest(options, key, commit);
  if (near !== undefined) return store.use(near);
  await prune(options);
  const begun = systemClock.monotonic();
  news({ type: 'snapshot-begun', commit, command });
  const made = await options.make({ runId, commit, key, stop });
  if (made === undefined) return 'refused';
  news({ type: 'snapshot-made', commit, ms: Math.round(systemClock.monotonic() - begun) });
  return store.use(made);
}

async function nearest({ store, changedBetween }: SnapshotsOptions, key: string, commit: string) {
  let best: { readonly one: Awaited<ReturnType<SnapshotStore['list']>>[number]; readonly changed: number } | undefined;
  for (const one of (await store.list()).filter((kept) => kept.key === key)) {
    const changed = one.commit === commit ? 0 : await changedBetween(one.commit, commit);
    if (changed !== undefined && changed <= MOST_CHANGED && changed < (best?.changed ?? Infinity))
      best = { one, changed };
  }
  return best?.one;
}

/** Makes room. What cannot be removed now is tried again with the next snapshot. */
async function prune({ store, limitBytes, inUse }: SnapshotsOptions): Promise<void> {
  const gone = whichToRemove(await store.list(), { now: Date.now(), bytes: limitBytes, inUse: await inUse() });
  for (const id of gone) await store.remove(id).catch(() => undefined);
}

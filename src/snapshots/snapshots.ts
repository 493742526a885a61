import { systemClock } from '../lib/index.ts';
import { whichToRemove } from './prune.ts';
import type { MakeSnapshot } from './make.ts';
import type { OverlayAnswer } from './overlay-trial.ts';
import type { KeptSnapshot, Snapshot, SnapshotStore } from './store.ts';

/** With more files that differ a new snapshot is made, which costs one full checkout and set-up. */
const MOST_CHANGED = 500;
/** A checkout of fewer files and bytes costs less than a snapshot of them, when there is no set-up. */
const FEW_FILES = 2000;
const FEW_BYTES = 32 * 1024 ** 2;

export type SnapshotNews =
  | { readonly type: 'snapshot-begun'; readonly commit: string; readonly command: string | null }
  | { readonly type: 'snapshot-made'; readonly commit: string; readonly ms: number }
  | { readonly type: 'warning'; readonly text: string };

export interface Wanted {
  /** Changes with all that a snapshot depends on beside its commit: lock files, the set-up, the image, copied files. */
  key(): Promise<string>;
  readonly files: number;
}

export interface Difference {
  /** The number of files that differ. */
  readonly files: number;
  /** Among them are some that the key depends on. */
  readonly changesKey: boolean;
}

export interface SnapshotsOptions {
  readonly store: SnapshotStore;
  /** The command of the set-up; null without one. */
  readonly command: string | null;
  readonly limitBytes: number;
  wanted(commit: string): Promise<Wanted>;
  /** The size of its files. */
  bytesOf(commit: string): Promise<number>;
  /** Undefined when one of the commits is gone. */
  changedBetween(from: string, to: string): Promise<Difference | undefined>;
  /** The snapshots that containers of any run use. */
  inUse(): Promise<ReadonlySet<string>>;
  readonly make: MakeSnapshot;
  /** Asks the engine whether it takes overlays. */
  tryOverlay(asking: Pick<Asking, 'runId' | 'stop'>): Promise<OverlayAnswer>;
}

interface Asking {
  readonly runId: string;
  /** The commit is one that tasks start from, and not the work of an attempt, or a trial. */
  readonly isPublished: boolean;
  /** A published commit that this one is made from: its snapshot may serve without a further look. */
  readonly parent?: string | undefined;
  readonly stop: AbortSignal;
  news(event: SnapshotNews): void;
}

/** The snapshots that workers of a run start from. */
export interface Snapshots {
  /** What a worktree at this commit begins with; null for an empty one, in which the worker does all itself. */
  of(commit: string, asking: Asking): Promise<Snapshot | null>;
  /** The set-up runs in snapshots, and not in workers. */
  readonly replaceSetUp: boolean;
  /** Removes those that are old or too many. */
  makeRoom(): Promise<void>;
  /** From now on none is made. Resolves when none is being made any more, and nothing of a half one is left. */
  end(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;
export const NO_SNAPSHOTS: Snapshots = { of: async () => null, replaceSetUp: false, makeRoom: nothing, end: nothing };

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const { store } = options;
  const overlays = askOnce(options);
  const ended = new AbortController();
  const finder = inTurn(async (commit, asking) => {
    asking.stop.throwIfAborted();
    if (overlays.isRefused) return null;
    const wanted = await options.wanted(commit);
    if (options.command === null && wanted.files < FEW_FILES && (await options.bytesOf(commit)) < FEW_BYTES)
      return null;
    await overlays.ask(asking);
    return overlays.isRefused ? null : findOrMake(options, commit, await wanted.key(), asking);
  });
  return {
    get replaceSetUp() {
      return !overlays.isRefused && options.command !== null;
    },
    makeRoom: () => finder.next(() => prune(options).catch(() => undefined)),
    end: async () => {
      ended.abort(new Error('the run is over'));
      await finder.rest();
    },
    of: async (commit, given) => {
      const asking = { ...given, stop: AbortSignal.any([given.stop, ended.signal]) };
      const inherited = await ofParent(options, finder, commit, asking);
      const found = inherited === undefined ? await finder.find(commit, asking) : inherited;
      if (found === null) return null;
      try {
        return await store.use(found);
      } catch {
        // Another run has removed it.
        finder.forget(commit, asking);
        const again = await finder.find(commit, asking);
        return again === null ? null : store.use(again);
      }
    },
  };
}

const keyOf = (commit: string, { isPublished }: Pick<Asking, 'isPublished'>): string => `${commit} ${isPublished}`;

/** One after the other: the snapshot of one commit may serve the next. What was found is remembered. */
function inTurn(find: (commit: string, asking: Asking) => Promise<Found | null>) {
  const known = new Map<string, Promise<Found | null>>();
  const results = new Map<string, Found | null>();
  let queue: Promise<unknown> = Promise.resolve();
  return {
    find: (commit: string, asking: Asking): Promise<Found | null> => {
      const key = keyOf(commit, asking);
      const before = known.get(key);
      if (before !== undefined) return before;
      const asked = queue.then(async () => {
        const found = await find(commit, asking);
        results.set(key, found);
        return found;
      });
      known.set(key, asked);
      queue = asked.catch(() => known.delete(key));
      return asked;
    },
    /** What was found for a published commit; undefined when nothing is known yet. */
    known: (commit: string): Found | null | undefined => results.get(keyOf(commit, { isPublished: true })),
    forget: (commit: string, asking: Asking): void => void known.delete(keyOf(commit, asking)),
    /** Other work, when its turn has come. */
    next: (work: () => Promise<void>): Promise<void> => {
      const done = queue.then(work);
      queue = done;
      return done;
    },
    /** Resolves when none is being looked for or made. */
    rest: async (): Promise<void> => void (await queue),
  };
}

interface Found extends Pick<KeptSnapshot, 'id' | 'commit' | 'isSetUp'> {
  /** The number of files that differ from those of the commit that asks. */
  readonly changed: number;
}

/**
 * A verification begins for each attempt: where the attempt has changed little, and nothing that the key depends on, the
 * snapshot that it began with serves, and one diff is all that this costs. Undefined when that is not known.
 */
async function ofParent(
  { changedBetween }: SnapshotsOptions,
  finder: { known(commit: string): Found | null | undefined },
  commit: string,
  { parent, isPublished }: Asking,
): Promise<Found | null | undefined> {
  const found = parent === undefined || isPublished ? undefined : finder.known(parent);
  if (parent === undefined || found === undefined) return undefined;
  const difference = await changedBetween(parent, commit);
  const isNear = difference?.changesKey === false && (found?.changed ?? 0) + difference.files <= MOST_CHANGED;
  return isNear ? found : undefined;
}

/** Asks the engine before the first snapshot is made or used. A question without an answer is asked again. */
function askOnce({ tryOverlay }: SnapshotsOptions) {
  let answer: OverlayAnswer | undefined;
  return {
    get isRefused() {
      return answer?.able === false;
    },
    ask: async (asking: Asking): Promise<void> => {
      if (answer !== undefined) return;
      answer = await tryOverlay(asking);
      if (!answer.able) asking.news({ type: 'warning', text: refusal(answer.reason) });
    },
  };
}

const refusal = (reason: string): string =>
  `the engine takes no overlays of folders, so each attempt makes its own checkout and runs the set-up itself: ${reason}`;

async function findOrMake(
  options: SnapshotsOptions,
  commit: string,
  key: string,
  { runId, isPublished, stop, news }: Asking,
): Promise<Found> {
  const { store, command } = options;
  const near = await nearest(options, key, commit);
  if (near !== undefined) {
    if (isPublished && !near.one.isShared) await store.share(near.one);
    return { ...near.one, changed: near.changed };
  }
  const begun = systemClock.monotonic();
  news({ type: 'snapshot-begun', commit, command });
  const made = await options.make({ runId, commit, key, isShared: isPublished, stop });
  news({ type: 'snapshot-made', commit, ms: Math.round(systemClock.monotonic() - begun) });
  await prune(options);
  return { ...made, changed: 0 };
}

/**
 * A snapshot of a commit that is not published serves that commit alone: the set-up has run code of an attempt that may be
 * rejected.
 */
async function nearest({ store, changedBetween }: SnapshotsOptions, key: string, commit: string) {
  const kept = (await store.list()).filter((one) => one.key === key);
  const same = kept.find((one) => one.commit === commit);
  if (same !== undefined) return { one: same, changed: 0 };
  let best: { readonly one: KeptSnapshot; readonly changed: number } | undefined;
  for (const one of kept.filter(({ isShared }) => isShared)) {
    const changed = (await changedBetween(one.commit, commit))?.files ?? Infinity;
    if (changed <= MOST_CHANGED && (best === undefined || changed < best.changed)) best = { one, changed };
    if (changed === 0) break;
  }
  return best;
}

/** Makes room. What cannot be removed now is tried again with the next run or snapshot. */
async function prune({ store, limitBytes, inUse }: SnapshotsOptions): Promise<void> {
  const kept = await store.list();
  const used = kept.length === 0 ? new Set<string>() : await inUse();
  const gone = whichToRemove(kept, { now: Date.now(), bytes: limitBytes, inUse: used });
  for (const one of gone) await store.remove(one).catch(() => undefined);
  await store.removeRemains().catch(() => undefined);
}

import { readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { hasCode, isMissing, libErrors, randomId, removeTree, repeated } from '../lib/index.ts';
import { SNAPSHOT_DRAFT, SPARE } from '../protocol/index.ts';
import type { Ports } from './ports.ts';

type CheckoutPorts = Pick<Ports, 'repository' | 'store'>;
type FolderPorts = CheckoutPorts & Pick<Ports, 'launcher'>;

const GONE = 'gone-';

export type WorkerFolders = ReturnType<typeof createWorkerFolders>;

/** Removes what workers have written, after their end. Only commits and logs stay. */
export function createWorkerFolders({ repository, store, launcher }: FolderPorts) {
  const removals = new Set<Promise<unknown>>();
  const begin = (removal: Promise<unknown>): void => {
    // What cannot be removed now is tried again at the end of the run.
    const over: Promise<unknown> = removal.catch(() => undefined).then(() => removals.delete(over));
    removals.add(over);
  };
  const discard = async (folder: string): Promise<boolean> => {
    const gone = path.join(store.paths.workers, `${GONE}${randomId()}`);
    if (!(await moved(folder, gone))) return false;
    begin(removeTree(gone));
    return true;
  };
  return {
    discardSpare: async (worker: number): Promise<void> => void (await discard(store.paths.spare(worker).folder)),
    /**
     * Makes the folders of a spare those of its worker. What a container has of them is not disturbed: it has the folders,
     * and not their names. False when there are none.
     */
    takeSpare: async (worker: number): Promise<boolean> => {
      await discard(store.paths.worker(worker).folder);
      return moved(store.paths.spare(worker).folder, store.paths.worker(worker).folder);
    },
    /** To be called when the worker has ended and its result was taken. Its number is free at once; the removal takes longer. */
    discard: async (worker: number): Promise<void> => {
      const { folder, worktree } = store.paths.worker(worker);
      if (!(await discard(folder))) return;
      // No other checkout is a worktree of the repository; the next worker of this number may have its own there already.
      if (launcher.capabilities.sharesObjects) begin(repository.removeWorktrees([worktree]));
    },
    /** To be called when all workers have ended and all results were taken. Leaves nothing of the run outside the repository. */
    clear: async (): Promise<void> => {
      await Promise.all(removals);
      await inSeveralTries(async () => {
        await removeOnce({ repository, store });
        await store.removeWorkers();
      });
    },
  };
}

/**
 * Removes worktrees and git directories of workers that have ended, the files that were copied for them, and what a git of
 * theirs has left half written. Their outboxes stay: a run that is resumed takes the results from there. The caller holds
 * the feature's lock.
 */
export const removeCheckouts = (ports: CheckoutPorts): Promise<void> => inSeveralTries(() => removeOnce(ports));

/** A disk or a git that fails gets more than one chance. A lock that is held was waited for already. */
const inSeveralTries = (work: () => Promise<void>): Promise<void> => repeated(work, (error) => !isHeldLock(error));

const isHeldLock = (error: unknown): boolean =>
  hasCode(error, libErrors.LOCK_BUSY) || hasCode(error, libErrors.LOCK_FOREIGN);

/** Removes the spares that an earlier orchestrator has left, and their folders. */
export async function removeSpares({ launcher, store }: FolderPorts, runId: string): Promise<void> {
  await launcher.spares?.sweep(runId);
  const names = await readdir(store.paths.workers).catch((): string[] => []);
  for (const name of names) if (name.startsWith(SPARE)) await removeTree(path.join(store.paths.workers, name));
}

async function removeOnce({ repository, store }: CheckoutPorts): Promise<void> {
  await removeTree(store.paths.copies);
  const names = await readdir(store.paths.workers).catch((): string[] => []);
  for (const name of names) {
    if ([GONE, SNAPSHOT_DRAFT, SPARE].some((begin) => name.startsWith(begin)))
      await removeTree(path.join(store.paths.workers, name));
  }
  const workers = names.filter((name) => /^\d+$/.test(name)).map((name) => store.paths.worker(Number(name)));
  if (workers.length > 0) await repository.removeWorktrees(workers.map(({ worktree }) => worktree));
  for (const { gitDir } of workers) await removeTree(gitDir);
  await repository.repairRecords();
}

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

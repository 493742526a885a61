import { lstatSync } from 'node:fs';
import path from 'node:path';
import {
  foreignLock,
  hasToken,
  makeFolder,
  makeIgnoredFolder,
  randomId,
  repeated,
  systemCode,
  tryLock,
  writeFileAtomic,
} from '../lib/index.ts';
import type { LockAttempt } from '../lib/index.ts';
import { stateErrors } from './errors.ts';
import type { FeaturePaths, ProjectPaths } from './paths.ts';

/** The files of a run in the repository, where `git clean -x` removes them even while the run goes on. */
export function createRunFiles(project: ProjectPaths, feature: string) {
  const paths = project.feature(feature);
  const missing = createWatch(project, paths);
  const isOurs = createTokenCheck(paths.lock);
  let token: string | undefined;
  let graph: string | undefined;

  const makeAgain = async (): Promise<readonly string[]> => {
    if (token === undefined) return [];
    const gone = missing();
    if (!(await isOurs(token))) {
      await takeAgain(feature, paths, token);
      gone.unshift(paths.lock);
    }
    if (gone.length === 0) return [];
    await makeFolders(project, paths);
    if (graph !== undefined) await writeFileAtomic(paths.usedGraph, graph, { durable: false });
    return gone.map((file) => path.relative(path.dirname(project.top), file));
  };

  return {
    /** Takes the run for this process and makes its folders. */
    lock: async (): Promise<() => Promise<void>> => {
      const taken = await take(feature, project, paths);
      ({ token } = taken);
      return async () => {
        token = undefined;
        await taken.release();
      };
    },
    /**
     * Makes again what others have removed of the run's files, the lock first, and returns what that was; the snapshot and the
     * log are for the caller to write. Throws LOCK_LOST when another process has the lock by now. Does nothing without the lock.
     */
    restore: (): Promise<readonly string[]> =>
      // The command that removes the files may still be at work.
      repeated(makeAgain, isGone),
    /** Keeps the task graph as the run uses it. */
    keepGraph: async (text: string): Promise<void> => {
      graph = text;
      await writeFileAtomic(paths.usedGraph, text, { durable: false });
    },
  };
}

async function take(
  feature: string,
  project: ProjectPaths,
  paths: FeaturePaths,
): Promise<Extract<LockAttempt, { taken: true }>> {
  // The end of another command may remove the folders that it leaves empty.
  const attempt = await repeated(async () => {
    await makeFolders(project, paths);
    return tryLock(paths.lock);
  }, isGone);
  if (!attempt.taken) {
    const { pid, since } = attempt.holder;
    throw foreignLock(paths.lock, attempt.holder) ?? stateErrors.ALREADY_RUNNING({ feature, pid, since });
  }
  // Makes folders that were removed before the lock was in them. Now that it is, they stay.
  await makeFolders(project, paths).catch(async (error: unknown) => {
    await attempt.release();
    throw error;
  });
  return attempt;
}

const isGone = (error: unknown): boolean => systemCode(error) === 'ENOENT';

/**
 * Each call returns the files that have been removed since an earlier call found them. This runs before every save: a look
 * that waits for the thread pool costs many times more than the look.
 */
function createWatch(project: ProjectPaths, paths: FeaturePaths): () => string[] {
  const ignores = [project.state, project.logs].map((folder) => path.join(folder, '.gitignore'));
  const files = [...ignores, paths.state, paths.events, paths.usedGraph, paths.requests, paths.logs];
  const seen = new Set<string>();
  return () => {
    const there = new Set(files.filter((file) => identityOf(file) !== undefined));
    const gone = files.filter((file) => !there.has(file) && seen.has(file));
    there.forEach((file) => seen.add(file));
    return gone;
  };
}

/** Whether the lock has the token. It is read again only when it is another file, or written since. */
function createTokenCheck(lock: string): (token: string) => Promise<boolean> {
  let known: string | undefined;
  return async (token) => {
    const now = identityOf(lock);
    if (now !== undefined && now === known) return true;
    if (!(await hasToken(lock, token))) return false;
    known = now;
    return true;
  };
}

/** Undefined when nothing is at the path; what cannot be examined counts as there, and as changed. */
function identityOf(file: string): string | undefined {
  try {
    const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    return stat && `${stat.dev} ${stat.ino} ${stat.ctimeNs}`;
  } catch {
    return randomId();
  }
}

/** The token stays the same: a command that waits for the end of this run knows the run by it. */
async function takeAgain(feature: string, { folder, lock }: FeaturePaths, token: string): Promise<void> {
  await makeFolder(folder);
  const attempt = await tryLock(lock, token);
  if (attempt.taken) return;
  const { pid, host } = attempt.holder;
  throw stateErrors.LOCK_LOST({ feature, file: lock, pid, host });
}

async function makeFolders(project: ProjectPaths, paths: FeaturePaths): Promise<void> {
  for (const folder of [project.state, project.logs]) await makeIgnoredFolder(folder);
  for (const folder of [paths.folder, paths.requests, paths.logs]) await makeFolder(folder);
}

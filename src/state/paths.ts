import path from 'node:path';
import { COPIES, SPARE } from '../protocol/index.ts';
import type { PlaceOf } from './run-place.ts';

/** Where everything of a repository's `.mahabharatha/` folder lives. */
export type ProjectPaths = ReturnType<typeof projectPaths>;
export type FeaturePaths = ReturnType<ProjectPaths['feature']>;
export type WorkerPaths = ReturnType<FeaturePaths['worker']>;

/** Git names the record of a worktree after its folder: this name is never that of a user's worktree. */
const WORKTREE_NAME = 'mahabharatha-worker-';

export function projectPaths(root: string, placeOf: PlaceOf) {
  const top = path.join(root, '.mahabharatha');
  const [state, logs, specs] = [path.join(top, 'state'), path.join(top, 'logs'), path.join(top, 'specs')];
  const formerly = [path.join(top, 'worktrees'), path.join(top, 'git')];
  return {
    top,
    config: path.join(top, 'config.yaml'),
    specs,
    state,
    logs,
    /** Folders of earlier versions for files of workers: nothing is made there any more. */
    formerly,
    /** Where what workers write is kept. */
    placeOf,
    feature: (feature: string) => {
      const folder = path.join(state, feature);
      return {
        graph: path.join(specs, feature, 'task-graph.json'),
        /** The snapshot; the orchestrator alone writes it. */
        state: path.join(state, `${feature}.json`),
        folder,
        /** The task graph as the run uses it. */
        usedGraph: path.join(folder, 'task-graph.json'),
        events: path.join(folder, 'events.jsonl'),
        lock: path.join(folder, 'lock.json'),
        /** What people ask of a running orchestrator: one file each. */
        requests: path.join(folder, 'requests'),
        logs: path.join(logs, feature),
        /** What `workers` was in earlier versions. */
        formerly: formerly.map((each) => path.join(each, feature)),
        ...runPaths(placeOf(feature).folder, path.join(logs, feature)),
      };
    },
  };
}

/** The folders of workers below one folder, and their logs in another. */
export function runPaths(workers: string, logs: string) {
  const shared = path.join(workers, 'shared');
  return {
    /** All that workers write, and what they are given: outside the repository. */
    workers,
    /** Read by all workers of the run: the lease and the copied files. */
    shared,
    lease: path.join(shared, 'lease.json'),
    copies: path.join(shared, COPIES),
    worker: (worker: number) => workerPaths(path.join(workers, String(worker)), worker, logs),
    /** Of a worker that waits for its number to be free. They become those above as a whole. */
    spare: (worker: number) => workerPaths(path.join(workers, `${SPARE}${worker}`), worker, logs),
  };
}

function workerPaths(folder: string, worker: number, logs: string) {
  const outbox = path.join(folder, 'outbox');
  return {
    /** All that follows but the log. */
    folder,
    /** Written by the orchestrator. */
    inbox: path.join(folder, 'inbox'),
    /** Written by the worker: the host does not trust what it reads there. */
    outbox,
    status: path.join(outbox, 'status.json'),
    log: path.join(logs, `worker-${worker}.jsonl`),
    worktree: path.join(folder, `${WORKTREE_NAME}${worker}`),
    gitDir: path.join(folder, 'git'),
    /** The kernel's own part of a worktree that begins with a snapshot. */
    overlayWork: path.join(folder, 'overlay'),
    /** A copy of the worker's bundle, where the worker cannot change it. */
    bundle: path.join(folder, 'work.bundle'),
  };
}

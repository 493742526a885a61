import path from 'node:path';
import { COPIES } from '../protocol/index.ts';
import type { PlaceOf } from './run-place.ts';

/** Where everything of a repository's `.mahabharatha/` folder lives. */
export interface ProjectPaths {
  readonly top: string;
  readonly config: string;
  readonly specs: string;
  readonly state: string;
  readonly logs: string;
  /** Where earlier versions kept what workers write: nothing is made there any more. */
  readonly formerly: readonly string[];
  /** Where what workers write is kept. */
  readonly placeOf: PlaceOf;
  feature(feature: string): FeaturePaths;
}

export interface FeaturePaths {
  readonly graph: string;
  /** The task graph as the run uses it. */
  readonly usedGraph: string;
  /** The snapshot; the orchestrator alone writes it. */
  readonly state: string;
  readonly folder: string;
  readonly events: string;
  readonly lock: string;
  /** What people ask of a running orchestrator: one file each. */
  readonly requests: string;
  readonly logs: string;
  /** All that workers write, and what they are given: outside the repository. */
  readonly workers: string;
  /** As `workers`, by earlier versions. */
  readonly formerly: readonly string[];
  /** Read by all workers of the run: the lease and the copied files. */
  readonly shared: string;
  readonly lease: string;
  readonly copies: string;
  worker(worker: number): WorkerPaths;
}

export interface WorkerPaths {
  /** All that follows but the log. */
  readonly folder: string;
  /** Written by the orchestrator. */
  readonly inbox: string;
  /** Written by the worker: the host reads it as something untrusted. */
  readonly outbox: string;
  readonly status: string;
  readonly log: string;
  readonly worktree: string;
  readonly gitDir: string;
  /** The worker's bundle, out of its reach. */
  readonly bundle: string;
}

/** Git names the record of a worktree after its folder: this name is never one of the user's own. */
export const WORKTREE_NAME = 'mahabharatha-worker-';

export const configFile = (root: string): string => path.join(root, '.mahabharatha', 'config.yaml');

export function projectPaths(root: string, placeOf: PlaceOf): ProjectPaths {
  const top = path.join(root, '.mahabharatha');
  const [state, logs, specs] = [path.join(top, 'state'), path.join(top, 'logs'), path.join(top, 'specs')];
  const formerly = [path.join(top, 'worktrees'), path.join(top, 'git')];
  return {
    top,
    config: configFile(root),
    specs,
    state,
    logs,
    formerly,
    placeOf,
    feature: (feature) => ({
      graph: path.join(specs, feature, 'task-graph.json'),
      ...featureState(path.join(state, feature)),
      state: path.join(state, `${feature}.json`),
      logs: path.join(logs, feature),
      formerly: formerly.map((folder) => path.join(folder, feature)),
      ...workerPaths(placeOf(feature).folder, path.join(logs, feature)),
    }),
  };
}

function featureState(folder: string): Pick<FeaturePaths, 'folder' | 'usedGraph' | 'events' | 'lock' | 'requests'> {
  return {
    folder,
    usedGraph: path.join(folder, 'task-graph.json'),
    events: path.join(folder, 'events.jsonl'),
    lock: path.join(folder, 'lock.json'),
    requests: path.join(folder, 'requests'),
  };
}

function workerPaths(
  workers: string,
  logs: string,
): Pick<FeaturePaths, 'workers' | 'shared' | 'lease' | 'copies' | 'worker'> {
  const shared = path.join(workers, 'shared');
  return {
    workers,
    shared,
    lease: path.join(shared, 'lease.json'),
    copies: path.join(shared, COPIES),
    worker: (worker) => {
      const folder = path.join(workers, String(worker));
      return {
        folder,
        inbox: path.join(folder, 'inbox'),
        outbox: path.join(folder, 'outbox'),
        status: path.join(folder, 'outbox', 'status.json'),
        log: path.join(logs, `worker-${worker}.jsonl`),
        worktree: path.join(folder, `${WORKTREE_NAME}${worker}`),
        gitDir: path.join(folder, 'git'),
        bundle: path.join(folder, 'work.bundle'),
      };
    },
  };
}

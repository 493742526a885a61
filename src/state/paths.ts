import path from 'node:path';

/** Where everything of a repository's `.mahabharatha/` folder lives. */
export interface ProjectPaths {
  readonly top: string;
  readonly config: string;
  readonly specs: string;
  readonly state: string;
  readonly logs: string;
  readonly worktrees: string;
  /** Git directories of workers that must not write the repository's own. */
  readonly git: string;
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
  readonly worktrees: string;
  readonly gitDirs: string;
  /** Read by all workers of the run: the lease and the copied files. */
  readonly shared: string;
  readonly lease: string;
  readonly copies: string;
  worker(worker: number): WorkerPaths;
}

export interface WorkerPaths {
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

export function projectPaths(root: string): ProjectPaths {
  const top = path.join(root, '.mahabharatha');
  const [state, logs, worktrees, git] = ['state', 'logs', 'worktrees', 'git'].map((name) => path.join(top, name)) as [
    string,
    string,
    string,
    string,
  ];
  const specs = path.join(top, 'specs');
  return {
    top,
    config: path.join(top, 'config.yaml'),
    specs,
    state,
    logs,
    worktrees,
    git,
    feature: (feature) => ({
      graph: path.join(specs, feature, 'task-graph.json'),
      ...featureState(path.join(state, feature)),
      state: path.join(state, `${feature}.json`),
      logs: path.join(logs, feature),
      worktrees: path.join(worktrees, feature),
      gitDirs: path.join(git, feature),
      worker: (worker) => ({
        inbox: path.join(state, feature, 'workers', String(worker), 'inbox'),
        outbox: path.join(state, feature, 'workers', String(worker), 'outbox'),
        status: path.join(state, feature, 'workers', String(worker), 'outbox', 'status.json'),
        log: path.join(logs, feature, `worker-${worker}.jsonl`),
        worktree: path.join(worktrees, feature, `worker-${worker}`),
        gitDir: path.join(git, feature, `worker-${worker}`),
        bundle: path.join(state, feature, 'workers', String(worker), 'work.bundle'),
      }),
    }),
  };
}

function featureState(
  folder: string,
): Pick<FeaturePaths, 'folder' | 'usedGraph' | 'events' | 'lock' | 'requests' | 'shared' | 'lease' | 'copies'> {
  const shared = path.join(folder, 'shared');
  return {
    folder,
    usedGraph: path.join(folder, 'task-graph.json'),
    events: path.join(folder, 'events.jsonl'),
    lock: path.join(folder, 'lock.json'),
    requests: path.join(folder, 'requests'),
    shared,
    lease: path.join(shared, 'lease.json'),
    copies: path.join(shared, 'copies'),
  };
}

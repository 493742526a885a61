import type { Labels } from '../engines/index.ts';
import type { WorkerHandle, WorkerSpec } from '../launchers/launcher.ts';

/** By these, and never by its name, something in the engine is known to be ours. */
export const LABEL = {
  run: 'mahabharatha.run',
  feature: 'mahabharatha.feature',
  worker: 'mahabharatha.worker',
  /** Root of the user's repository on this machine. */
  repo: 'mahabharatha.repo',
  session: 'mahabharatha.session',
  role: 'mahabharatha.role',
  /** On shared caches: the repository they belong to. */
  cache: 'mahabharatha.cache',
  /** On the volume of a run's egress proxy: the key by which the proxy knows the run's workers. */
  egressKey: 'mahabharatha.egress-key',
  /** Where a worker's log and folders are: whoever finds it by its labels alone must know. */
  places: 'mahabharatha.places',
} as const;

/** Host paths of a worker. */
export interface Places {
  readonly log: string;
  readonly worktree: string;
  readonly gitDir: string;
  readonly outbox: string;
}

/** And what all workers of its run have. */
interface RunPlaces extends Places {
  readonly shared: string;
  readonly inbox: string;
}

export function runLabels(run: { runId: string; feature: string; repo: string }): Labels {
  return { [LABEL.run]: run.runId, [LABEL.feature]: run.feature, [LABEL.repo]: run.repo };
}

export function workerLabels(spec: WorkerSpec, repo: string): Labels {
  const { log, worktree, inbox, outbox, shared, privateGit } = spec;
  const places: RunPlaces = { log, worktree, gitDir: privateGit?.gitDir ?? worktree, outbox, shared, inbox };
  return {
    ...runLabels({ ...spec, repo }),
    [LABEL.worker]: String(spec.worker),
    [LABEL.session]: spec.session,
    [LABEL.role]: 'worker',
    [LABEL.places]: JSON.stringify(places),
  };
}

export function placesOf(facts: WorkerHandle['facts']): RunPlaces {
  const text = (name: keyof RunPlaces): string => String(facts[name]);
  const [log, worktree, gitDir] = [text('log'), text('worktree'), text('gitDir')];
  return { log, worktree, gitDir, outbox: text('outbox'), shared: text('shared'), inbox: text('inbox') };
}

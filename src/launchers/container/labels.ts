import path from 'node:path';
import { LABEL as OWNED } from '../../containers/index.ts';
import type { Owner } from '../../containers/index.ts';
import type { ContainerInfo, Labels } from '../../engines/index.ts';
import { EGRESS_LOG } from '../../protocol/index.ts';
import type { WorkerHandle, WorkerSpec } from '../launcher.ts';

export const CONTAINER = 'container';

/** Labels of runs and their workers, beside those that every container of ours has. */
export const LABEL = {
  run: 'mahabharatha.run',
  feature: 'mahabharatha.feature',
  worker: 'mahabharatha.worker',
  /** Root of the user's repository on this machine. */
  repo: 'mahabharatha.repo',
  /** The snapshot that a container uses. */
  snapshot: 'mahabharatha.snapshot',
  /** Where a worker's log and folders are: another process finds them by this label. */
  places: 'mahabharatha.places',
} as const;

export const WORKER_ROLE = 'worker';

/** Host paths of a worker. `shared` is of all workers of its run. */
const PLACES = ['log', 'worktree', 'gitDir', 'outbox', 'inbox', 'shared'] as const;

export type Places = Readonly<Record<(typeof PLACES)[number], string>>;

interface OwnerFacts extends Pick<WorkerSpec, 'runId' | 'feature' | 'shared' | 'log'> {
  readonly kind: Owner['kind'];
  readonly repo: string;
}

export function runOwner({ runId, kind, feature, repo, shared, log }: OwnerFacts): Owner {
  return {
    id: runId,
    kind,
    labels: { [LABEL.run]: runId, [LABEL.feature]: feature, [LABEL.repo]: repo },
    leaseFolder: shared,
    egressLog: path.join(path.dirname(log), EGRESS_LOG),
  };
}

export function placesOfSpec({ log, worktree, inbox, outbox, shared, privateGit }: WorkerSpec): Places {
  return { log, worktree, gitDir: privateGit?.gitDir ?? worktree, outbox, shared, inbox };
}

export function workerLabels(spec: WorkerSpec): Labels {
  const places = JSON.stringify(placesOfSpec(spec));
  const snapshot = spec.layers === null ? {} : { [LABEL.snapshot]: spec.layers.snapshot };
  return { [LABEL.worker]: String(spec.worker), [LABEL.places]: places, ...snapshot };
}

/** What every container of a run's workers is labelled with. */
export const ofWorkers = (runId: string): Labels => ({ [LABEL.run]: runId, [OWNED.role]: WORKER_ROLE });

export function placesOf(facts: WorkerHandle['facts']): Places {
  return Object.fromEntries(PLACES.map((name) => [name, String(facts[name])])) as Places;
}

export function handleOf({ id, name, labels, createdAt }: ContainerInfo): WorkerHandle {
  const places = JSON.parse(labels[LABEL.places] ?? '{}') as Record<string, string>;
  return {
    launcher: CONTAINER,
    runId: labels[LABEL.run] ?? '',
    worker: Number(labels[LABEL.worker]),
    session: labels[OWNED.session] ?? '',
    pid: null,
    containerId: id,
    facts: { ...places, name, feature: labels[LABEL.feature] ?? '', started: createdAt },
  };
}

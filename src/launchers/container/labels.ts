import type { ContainerInfo, Labels } from '../../engines/index.ts';
import { LABEL as OWNED } from '../../containers/index.ts';
import type { Owner } from '../../containers/index.ts';
import { EGRESS_LOG } from '../../protocol/index.ts';
import path from 'node:path';
import type { WorkerHandle, WorkerSpec } from '../launcher.ts';

export const CONTAINER = 'container';

/** What runs and their workers are labelled with, beside what every container of ours has. */
export const LABEL = {
  run: 'mahabharatha.run',
  feature: 'mahabharatha.feature',
  worker: 'mahabharatha.worker',
  /** Root of the user's repository on this machine. */
  repo: 'mahabharatha.repo',
  /** Where a worker's log and folders are, for those who find it by its labels alone. */
  places: 'mahabharatha.places',
} as const;

export const WORKER_ROLE = 'worker';

/** Host paths of a worker. */
export interface Places {
  readonly log: string;
  readonly worktree: string;
  readonly gitDir: string;
  readonly outbox: string;
  readonly inbox: string;
  /** Of all workers of its run. */
  readonly shared: string;
}

export function runOwner(run: { runId: string; feature: string; repo: string; shared: string; log: string }): Owner {
  const { runId, feature, repo, shared, log } = run;
  return {
    id: runId,
    kind: 'run',
    labels: { [LABEL.run]: runId, [LABEL.feature]: feature, [LABEL.repo]: repo },
    leaseFolder: shared,
    egressLog: path.join(path.dirname(log), EGRESS_LOG),
  };
}

export function placesOfSpec({ log, worktree, inbox, outbox, shared, privateGit }: WorkerSpec): Places {
  return { log, worktree, gitDir: privateGit?.gitDir ?? worktree, outbox, shared, inbox };
}

export function workerLabels(spec: WorkerSpec): Labels {
  return { [LABEL.worker]: String(spec.worker), [LABEL.places]: JSON.stringify(placesOfSpec(spec)) };
}

export function placesOf(facts: WorkerHandle['facts']): Places {
  const text = (name: keyof Places): string => String(facts[name]);
  const [log, worktree, gitDir] = [text('log'), text('worktree'), text('gitDir')];
  return { log, worktree, gitDir, outbox: text('outbox'), shared: text('shared'), inbox: text('inbox') };
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

import { inOneLine } from '../lib/text/words.ts';

/** The branches of a feature, which people see in `git branch`. */
export function branchNames(feature: string): {
  readonly prefix: string;
  readonly integration: string;
  worker(worker: number): string;
} {
  const prefix = `mahabharatha/${feature}/`;
  return { prefix, integration: `${prefix}integration`, worker: (worker) => `${prefix}worker-${worker}` };
}

/** In a worker's outbox: its commit on the way to the host. */
export const BUNDLE = 'work.bundle';

/** In the shared folder: the files that are copied into each worktree. In the inbox of a worker that cannot read that: the same. */
export const COPIES = 'copies';

/** In the folder of the logs: what the egress proxy has refused or could not reach. */
export const EGRESS_LOG = 'egress.jsonl';

/** In the same folder: what hooks have printed. */
export const HOOK_LOG = 'hooks.jsonl';

/** In the messages of a feature's tasks, and of its merge: by it the feature is known as merged when its run is gone. */
export const FEATURE_TRAILER = 'Mahabharatha-Feature';

export const TASK_TRAILER = 'Mahabharatha-Task';

/** In the message of a squashed feature: the commit of the integration branch whose work it has. */
export const TIP_TRAILER = 'Mahabharatha-Commit';

/** The message of a task's commit, the same from the worker and from the host. */
export function commitMessage(
  task: { readonly id: string; readonly title: string },
  attempt: string,
  { feature, runId }: { readonly feature: string; readonly runId: string },
): string {
  // A line of the title could look like a trailer, and git accepts no NUL.
  const title = inOneLine(task.title);
  const trailers = [
    `${FEATURE_TRAILER}: ${feature}`,
    `${TASK_TRAILER}: ${task.id}`,
    `Mahabharatha-Attempt: ${attempt}`,
    `Mahabharatha-Run: ${runId}`,
  ];
  return `${task.id}: ${title}\n\n${trailers.join('\n')}\n`;
}

/** Keeps the commit of an attempt until clean-up, even of a failed one: no work is lost. */
export function attemptRef(feature: string, task: string, number: number): string {
  return `${attemptRefs(feature)}${task}/${number}`;
}

/** Keeps a level's merged, not yet published work. No task has this name: ids have no "@". */
export function trialRef(feature: string): string {
  return `${attemptRefs(feature)}@trial`;
}

export function attemptRefs(feature: string): string {
  return `refs/mahabharatha/${feature}/`;
}

/** A run has so many at most, each with two numbers. */
export const MOST_WORKERS = 64;

/** The number of a worker that makes snapshots: no other worker has it. */
export const SNAPSHOT_MAKER = 2 * MOST_WORKERS;

/** The number of a worker in whose container a person works. */
export const SHELL_WORKER = SNAPSHOT_MAKER + 1;

/** The number of no worker: lines of hooks have it. */
export const HOOK_RUNNER = SNAPSHOT_MAKER + 2;

/** What begins the name of a folder, beside those of workers, in which a snapshot is made. */
export const SNAPSHOT_DRAFT = 'snapshot-';

/** What begins the name of a spare's folder, beside those of workers. Its number follows. */
export const SPARE = 'spare-';

/** Branches of a feature: what people see in `git branch`. */
import { inOneLine } from '../lib/text/words.ts';

export function branchNames(feature: string): {
  readonly prefix: string;
  readonly integration: string;
  worker(worker: number): string;
} {
  const prefix = `mahabharatha/${feature}/`;
  return { prefix, integration: `${prefix}integration`, worker: (worker) => `${prefix}worker-${worker}` };
}

/** The worker's commit on its way to the host, in its outbox. */
export const BUNDLE = 'work.bundle';

/** In the folder that all workers share: what is copied into each worktree. In an inbox: the same for a worker that may not read that. */
export const COPIES = 'copies';

/** What the egress proxy refused or could not reach, beside the logs of the workers. */
export const EGRESS_LOG = 'egress.jsonl';

export const TASK_TRAILER = 'Mahabharatha-Task';

/** What a commit of a task says; the host and the worker say the same. */
export function commitMessage(task: { id: string; title: string }, attempt: string, runId: string): string {
  // A title may have lines that look like trailers, and git takes no NUL.
  const title = inOneLine(task.title);
  const trailers = [`${TASK_TRAILER}: ${task.id}`, `Mahabharatha-Attempt: ${attempt}`, `Mahabharatha-Run: ${runId}`];
  return `${task.id}: ${title}\n\n${trailers.join('\n')}\n`;
}

/** Every attempt's commit stays under a ref of its own until clean-up, also a failed one: work is never lost. */
export function attemptRef(feature: string, task: string, number: number): string {
  return `${attemptRefs(feature)}${task}/${number}`;
}

/** Keeps a level's merged, not yet published work from being collected. No task has this name: theirs begin with a letter. */
export function trialRef(feature: string): string {
  return `${attemptRefs(feature)}@trial`;
}

export function attemptRefs(feature: string): string {
  return `refs/mahabharatha/${feature}/`;
}

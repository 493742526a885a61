/** Branches of a feature: what people see in `git branch`. */
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

/** What the egress proxy refused or could not reach, beside the logs of the workers. */
export const EGRESS_LOG = 'egress.jsonl';

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

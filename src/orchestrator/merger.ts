import { mergeTasks } from './apply-merge.ts';
import type { Journal } from './journal.ts';
import type { MergeAction } from './plan.ts';
import type { RunContext } from './ports.ts';

/** Merges beside the loop: neither a worker that is free nor one that has ended waits for a merge. */
export interface Merger {
  /** Merges are under way; throws what has ended the last ones. */
  readonly busy: boolean;
  begin(action: MergeAction): void;
  /** Resolves when nothing is being merged any more; rejects with what has ended it. */
  rest(): Promise<void>;
}

/** `onEnd` is called when merges have ended and are recorded. */
export function createMerger(context: RunContext, journal: Journal, onEnd: () => void): Merger {
  let merging: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const check = (): void => {
    if (failure !== undefined) throw failure.error;
  };
  return {
    get busy() {
      check();
      return merging !== undefined;
    },
    begin: (action) => {
      merging = mergeTasks(context, journal, action)
        .catch((error: unknown) => void (failure = { error }))
        .finally(() => {
          merging = undefined;
          onEnd();
        });
    },
    rest: async () => {
      await merging;
      check();
    },
  };
}

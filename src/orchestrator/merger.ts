import { mergeTasks } from './apply-merge.ts';
import type { Journal } from './journal.ts';
import type { MergeAction } from './plan.ts';
import type { RunContext } from './ports.ts';

export type Merger = ReturnType<typeof createMerger>;

/** Merges beside the loop, so that no worker waits for a merge. `onEnd` is called when merges have ended and are recorded. */
export function createMerger(context: RunContext, journal: Journal, onEnd: () => void) {
  let merging: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const check = (): void => {
    if (failure !== undefined) throw failure.error;
  };
  return {
    /** Whether merges are under way; throws the error of the last ones. */
    get busy(): boolean {
      check();
      return merging !== undefined;
    },
    begin: (action: MergeAction): void => {
      merging = mergeTasks(context, journal, action)
        .catch((error: unknown) => void (failure = { error }))
        .finally(() => {
          merging = undefined;
          onEnd();
        });
    },
    /** Resolves when no merge is under way; rejects with the error of the last ones. */
    rest: async (): Promise<void> => {
      await merging;
      check();
    },
  };
}

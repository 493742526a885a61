import { mergeTasks } from './apply-merge.ts';
import type { Journal } from './journal.ts';
import type { MergeAction } from './plan.ts';
import type { RunContext } from './ports.ts';

/** Merges beside the loop, so that no worker waits for a merge. */
export interface Merger {
  /** Whether merges are under way; throws the error of the last ones. */
  readonly busy: boolean;
  begin(action: MergeAction): void;
  /** Resolves when no merge is under way; rejects with the error of the last ones. */
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

import { within } from '../lib/index.ts';

/** Work that may still make something in the engine. */
export interface Pending {
  add<Result>(work: Promise<Result>): Promise<Result>;
  isEmpty(): boolean;
  /** Resolves when all work has ended, or after the time. */
  emptyWithin(ms: number): Promise<void>;
}

export function createPending(): Pending {
  const works = new Set<Promise<unknown>>();
  return {
    add: (work) => {
      const over: Promise<unknown> = work.catch(() => undefined).then(() => works.delete(over));
      works.add(over);
      return work;
    },
    isEmpty: () => works.size === 0,
    emptyWithin: async (ms) => {
      await within(ms, Promise.all(works));
    },
  };
}

import { within } from '../lib/index.ts';

export type Pending = ReturnType<typeof createPending>;

/** Work that may still make something in the engine. */
export function createPending() {
  const works = new Set<Promise<unknown>>();
  return {
    add: <Result>(work: Promise<Result>): Promise<Result> => {
      const over: Promise<unknown> = work.catch(() => undefined).then(() => works.delete(over));
      works.add(over);
      return work;
    },
    isEmpty: (): boolean => works.size === 0,
    /** Resolves when all work has ended, or after the time. */
    emptyWithin: (ms: number): Promise<unknown> => within(ms, Promise.all(works)),
  };
}

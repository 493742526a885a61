import type { Sandbox } from './sandbox.ts';

export interface WarmPoolOptions {
  /** Runtimes by name. */
  readonly names: readonly string[];
  /** How many spares each has. */
  readonly size: number;
  start(name: string): Promise<Sandbox>;
  /** Whether the machine has memory for one more. */
  hasRoom(): boolean;
}

export type WarmPool = ReturnType<typeof createWarmPool>;

interface Pool extends WarmPoolOptions {
  readonly spares: ReadonlyMap<string, Sandbox[]>;
  readonly closing: AbortSignal;
}

/** Sandboxes that are ready before someone asks. Each is given out once; one at a time is made, in the background. */
export function createWarmPool(options: WarmPoolOptions) {
  const spares = new Map<string, Sandbox[]>(options.names.map((name) => [name, []]));
  const closing = new AbortController();
  const pool: Pool = { ...options, spares, closing: closing.signal };
  let filling: Promise<void> | undefined;
  return {
    /** Makes what is missing. */
    refill: (): void => {
      filling ??= fill(pool).finally(() => (filling = undefined));
    },
    take: (name: string): Sandbox | undefined => {
      const own = spares.get(name) ?? [];
      const at = own.findIndex((spare) => !spare.isOver());
      return at === -1 ? undefined : own.splice(at, 1)[0];
    },
    counts: (): Record<string, number> => Object.fromEntries([...spares].map(([name, own]) => [name, alive(own)])),
    close: async (): Promise<void> => {
      closing.abort();
      await filling;
      await Promise.all([...spares.values()].flatMap((own) => own.splice(0)).map((spare) => spare.close()));
    },
  };
}

async function fill({ spares, size, start, hasRoom, closing }: Pool): Promise<void> {
  for (const [name, own] of spares) {
    while (alive(own) < size && hasRoom() && !closing.aborted) {
      // A runtime whose spare cannot be made waits until it is asked for again.
      const spare = await start(name).catch(() => undefined);
      if (spare === undefined) break;
      own.push(spare);
    }
    // What is left of those that were ended from outside.
    for (const gone of own.filter((spare) => spare.isOver())) {
      own.splice(own.indexOf(gone), 1);
      await gone.close().catch(() => undefined);
    }
  }
}

const alive = (own: readonly Sandbox[]): number => own.filter((spare) => !spare.isOver()).length;

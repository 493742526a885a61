/** How many are at work, and who waits. */
export interface Places {
  running: number;
  readonly waiting: (() => void)[];
}

interface PlaceLimits {
  /** At a time. */
  readonly running: number;
  readonly waiting: number;
  /** Thrown when too many wait already. */
  readonly busy: (waiting: number) => Error;
}

/** Resolves when there is room, with what gives the place back. Throws the signal's reason when it fires before there is room. */
export async function enter(places: Places, most: PlaceLimits, gone: AbortSignal): Promise<() => void> {
  gone.throwIfAborted();
  const { waiting } = places;
  if (waiting.length >= most.waiting) throw most.busy(waiting.length);
  if (places.running >= most.running) await turn(waiting, gone);
  else places.running += 1;
  return () => {
    // The place goes to the next one, and the number stays.
    const next = waiting.shift();
    if (next === undefined) places.running -= 1;
    else next();
  };
}

function turn(waiting: Places['waiting'], gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.splice(waiting.indexOf(go), 1);
      reject(gone.reason as Error);
    };
    const go = (): void => {
      gone.removeEventListener('abort', giveUp);
      resolve();
    };
    gone.addEventListener('abort', giveUp, { once: true });
    waiting.push(go);
  });
}

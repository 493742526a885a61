export interface Crowd {
  /** "seat": welcome; "standing": one too many, told so; "none": not even that. */
  enter(worker: number): 'seat' | 'standing' | 'none';
  /** For everybody who got in. */
  leave(worker: number): void;
}

/** Counts connections. There is room to tell some that they are too many. */
export function createCrowd(perWorker: number, all: number): Crowd {
  const counts = new Map<number, number>();
  let total = 0;
  return {
    enter: (worker) => {
      const own = counts.get(worker) ?? 0;
      if (own >= perWorker * 2 || total >= all) return 'none';
      counts.set(worker, own + 1);
      total += 1;
      return own >= perWorker ? 'standing' : 'seat';
    },
    leave: (worker) => {
      const own = (counts.get(worker) ?? 0) - 1;
      total -= 1;
      if (own > 0) counts.set(worker, own);
      else counts.delete(worker);
    },
  };
}

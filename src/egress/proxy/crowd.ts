import type { Socket } from 'node:net';

const FEW = 8;

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
      // When all are many, those that have few are still let in.
      if (own >= perWorker * 2 || (total >= all && own >= FEW)) return 'none';
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

export interface Strangers {
  enter(socket: Socket): void;
  /** It is no stranger any more. */
  leave(socket: Socket): void;
}

/** Connections that have not said whose they are. For one too many goes the one that has been silent for longest. */
export function createStrangers(most: number): Strangers {
  const waiting = new Set<Socket>();
  return {
    enter: (socket) => {
      const [oldest] = waiting;
      if (oldest !== undefined && waiting.size >= most) {
        waiting.delete(oldest);
        oldest.destroy();
      }
      waiting.add(socket);
      socket.once('close', () => waiting.delete(socket));
    },
    leave: (socket) => void waiting.delete(socket),
  };
}

import type { Socket } from 'node:net';

/** A worker with fewer connections may open one also while all workers together have too many. */
const FEW = 8;

export interface ConnectionLimits {
  /** "full": it is served; "reason-only": it is answered that there are too many; "none": it is closed. */
  enter(worker: number): 'full' | 'reason-only' | 'none';
  /** For each connection that was not closed at once. */
  leave(worker: number): void;
}

/** Counts connections. Beyond the limit some are still answered with the reason. */
export function createConnectionLimits(perWorker: number, all: number): ConnectionLimits {
  const counts = new Map<number, number>();
  let total = 0;
  return {
    enter: (worker) => {
      const own = counts.get(worker) ?? 0;
      if (own >= perWorker * 2 || (total >= all && own >= FEW)) return 'none';
      counts.set(worker, own + 1);
      total += 1;
      return own >= perWorker ? 'reason-only' : 'full';
    },
    leave: (worker) => {
      const own = (counts.get(worker) ?? 0) - 1;
      total -= 1;
      if (own > 0) counts.set(worker, own);
      else counts.delete(worker);
    },
  };
}

export interface Unnamed {
  enter(socket: Socket): void;
  /** Its worker is known. */
  leave(socket: Socket): void;
}

/** Connections whose worker is not known yet. When there are too many, the oldest is closed. */
export function createUnnamed(most: number): Unnamed {
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

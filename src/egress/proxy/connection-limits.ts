import type { Socket } from 'node:net';

const FEW = 8;

export interface ConnectionLimits {
  /** "full": it is served; "reason-only": one too many, and gets only that answer; "none": it is closed. */
  enter(worker: number): 'full' | 'reason-only' | 'none';
  /** For each connection that was not closed at once. */
  leave(worker: number): void;
}

/** Counts connections. Some that are too many still get an answer that says so. */
export function createConnectionLimits(perWorker: number, all: number): ConnectionLimits {
  const counts = new Map<number, number>();
  let total = 0;
  return {
    enter: (worker) => {
      const own = counts.get(worker) ?? 0;
      // When all are many, those that have few are still let in.
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
  /** It has said whose it is. */
  leave(socket: Socket): void;
}

/** Connections that have not said whose they are. When there are too many, the one that was silent for longest is closed. */
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

import type { Socket } from 'node:net';

/** A worker with fewer connections may open one also while all workers together have too many. */
const FEW = 8;

/** Counts connections. Beyond the limit some are still answered with the reason. */
export function createConnectionLimits(perWorker: number, all: number) {
  const counts = new Map<number, number>();
  let total = 0;
  return {
    /** "full": it is served; "reason-only": it is answered that there are too many; "none": it is closed. */
    enter: (worker: number): 'full' | 'reason-only' | 'none' => {
      const own = counts.get(worker) ?? 0;
      if (own >= perWorker * 2 || (total >= all && own >= FEW)) return 'none';
      counts.set(worker, own + 1);
      total += 1;
      return own >= perWorker ? 'reason-only' : 'full';
    },
    /** For each connection that was not closed at once. */
    leave: (worker: number): void => {
      const own = (counts.get(worker) ?? 0) - 1;
      total -= 1;
      if (own > 0) counts.set(worker, own);
      else counts.delete(worker);
    },
  };
}

/** Connections whose worker is not known yet. When there are too many, the oldest is closed. */
export function createUnnamed(most: number) {
  const waiting = new Set<Socket>();
  return {
    enter: (socket: Socket): void => {
      const [oldest] = waiting;
      if (oldest !== undefined && waiting.size >= most) {
        waiting.delete(oldest);
        oldest.destroy();
      }
      waiting.add(socket);
      socket.once('close', () => waiting.delete(socket));
    },
    /** Its worker is known. */
    leave: (socket: Socket): void => void waiting.delete(socket),
  };
}

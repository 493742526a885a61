import type { Assignment, Boot } from '../protocol/index.ts';

/**
 * What orchestrator and workers exchange, from the orchestrator's side. A launcher whose workers share no file system with
 * the host has its own implementation. What a worker sends is not trusted: the mail limits its size and does not read it.
 */
export interface Mail {
  /** Begins a session: removes all that an earlier session has left. From now on assignments can be delivered. */
  open(worker: number): Promise<void>;
  /** Gives the worker what it must know first. To be called before its start. */
  brief(worker: number, boot: Boot): Promise<void>;
  /** Replaces the last assignment; the same one may be delivered again. */
  deliver(worker: number, assignment: Assignment): Promise<void>;
  /** The worker's last status; undefined before the first. Rejects when it is too large or no text. */
  readStatus(worker: number): Promise<string | undefined>;
  /** Calls back soon after the worker has written. A call may be missed, so the caller also looks regularly. */
  watch(worker: number, onNews: () => void): { close(): void };
  /**
   * Copies the worker's bundle to a place where the worker cannot change it, until `use` has ended; undefined without a
   * bundle. Rejects with FILE_UNREADABLE when it is larger than `maxBytes` or cannot be read.
   */
  withBundle<T>(worker: number, maxBytes: number, use: (file: string) => Promise<T>): Promise<T | undefined>;
  /** Shows all workers that their orchestrator is alive, until it is closed. */
  keepLease(leaseMs: number): Promise<{ close(): void }>;
}

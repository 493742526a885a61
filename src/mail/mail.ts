import type { Assignment, Boot } from '../protocol/index.ts';

/**
 * What orchestrator and workers exchange, from the orchestrator's side. A launcher whose workers share no file system with
 * the host brings its own. What comes from a worker is untrusted: its size is limited here, its content is not looked at.
 */
export interface Mail {
  /** Begins a session: gives the worker what it must know first, and drops all that an earlier session has left. */
  open(worker: number, boot: Boot): Promise<void>;
  /** Replaces what was delivered before; the same assignment may be delivered again. */
  deliver(worker: number, assignment: Assignment): Promise<void>;
  /** The status that the worker has written last; undefined before the first. Rejects when it is too large or no text. */
  readStatus(worker: number): Promise<string | undefined>;
  /** Calls back soon after the worker has written. The caller also looks now and then: a missed call costs time only. */
  watch(worker: number, onNews: () => void): { close(): void };
  /**
   * Copies the worker's bundle to where the worker cannot change it, for as long as it is used; undefined without a bundle.
   * Rejects with FILE_UNREADABLE when it is larger than `maxBytes` or cannot be had.
   */
  withBundle<T>(worker: number, maxBytes: number, use: (file: string) => Promise<T>): Promise<T | undefined>;
  /** Shows all workers that their orchestrator lives, until it is closed. */
  keepLease(leaseMs: number): Promise<{ close(): void }>;
}

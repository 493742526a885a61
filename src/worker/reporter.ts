import { writeFileAtomic } from '../lib/index.ts';
import type { WorkerStatus } from '../protocol/index.ts';

/** The worker's status file: the only thing the orchestrator hears from it. */
export interface Reporter {
  /** Changes the status; resolves when it is written. */
  update(change: Partial<WorkerStatus>): Promise<void>;
  close(): void;
}

export function startReporter(file: string, first: WorkerStatus, beatMs: number): Reporter {
  let status = first;
  let writing = Promise.resolve();
  const write = (): Promise<void> => {
    writing = writing.then(async (): Promise<void> => {
      status = { ...status, beat: status.beat + 1, at: new Date().toISOString() };
      // A result must survive a crash of the machine; a heartbeat need not.
      const durable = status.result !== null;
      // What cannot be written now (a full disk) is written with the next beat, or the orchestrator gives us up.
      await writeFileAtomic(file, JSON.stringify(status), { durable }).catch(() => undefined);
    });
    return writing;
  };
  const timer = setInterval(() => void write(), beatMs);
  return {
    update: (change) => {
      status = { ...status, ...change };
      return write();
    },
    close: () => clearInterval(timer),
  };
}

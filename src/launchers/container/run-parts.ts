import path from 'node:path';
import type { WorkerSpec } from '../launcher.ts';
import type { ContainerLauncherOptions } from './settings.ts';

/** What a run has once, beside its workers. */
interface RunParts {
  /** Resolves when what the workers need is there. */
  of(spec: WorkerSpec): Promise<void>;
  close(runId: string): void;
}

export function createRunParts({ startSweeper }: ContainerLauncherOptions): RunParts {
  const sweepers = new Map<string, { close(): void }>();
  return {
    of: async ({ runId, shared }) => {
      if (!sweepers.has(runId)) sweepers.set(runId, startSweeper({ runId, lease: path.join(shared, 'lease.json') }));
    },
    close: (runId) => {
      sweepers.get(runId)?.close();
      sweepers.delete(runId);
    },
  };
}

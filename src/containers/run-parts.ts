import type { WorkerHandle, WorkerSpec } from '../launchers/launcher.ts';
import { egressKey, egressToken } from './egress-key.ts';
import { keepEgressProxy } from './egress-proxy.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { LABEL, placesOf } from './labels.ts';
import { createPatience } from './outage.ts';
import type { Patience } from './outage.ts';
import type { ContainerLauncherOptions } from './settings.ts';

/** What of a worker all workers of its run have in common, and where their logs are. */
type Run = Pick<WorkerSpec, 'runId' | 'feature' | 'shared' | 'log'>;

/** What a run has once, beside its workers: its last hand, its caches, its way out. */
interface RunParts {
  /** Resolves when a worker can be made. Its way out is made when it is asked for: best when the worker itself is started. */
  of(run: Run): Promise<Ready>;
  /** Ends what is not a worker; resolves when its last words are in the log, or cannot be waited for. */
  close(runId: string): Promise<void>;
  /** Nothing of the run is left: its last hand may go. */
  forget(runId: string): void;
}

interface Ready {
  wayOut(): Promise<void>;
  /** Proves to the way out which worker it is; null where there is none. */
  tokenOf(worker: number): string | null;
}

interface Parts {
  readonly sweeper: { close(): void };
  made: Made | undefined;
}

interface Made {
  /** With the key of the run's egress proxy, where it has one. */
  readonly volumes: Promise<string | null>;
  proxy: Promise<EgressProxy | null> | undefined;
}

export function createRunParts(options: ContainerLauncherOptions, patience = createPatience(options.engine)): RunParts {
  const runs = new Map<string, Parts>();
  return {
    of: async (run) => {
      const known = runs.get(run.runId);
      const parts = known ?? { sweeper: options.startSweeper(run.runId), made: undefined };
      if (known === undefined) runs.set(run.runId, parts);
      const made = (parts.made ??= make(options, run));
      const key = await made.volumes.catch((error: unknown) => {
        // What could not be made is tried again with the next worker.
        if (parts.made === made) parts.made = undefined;
        throw error;
      });
      return {
        tokenOf: (worker) => (key === null ? null : egressToken(key, worker)),
        wayOut: async () => {
          const making = (made.proxy ??= makeProxy(options, { run, key, patience }));
          try {
            const proxy = await making;
            await proxy?.started;
          } catch (error) {
            // As with the volumes.
            if (made.proxy === making) made.proxy = undefined;
            throw error;
          }
        },
      };
    },
    close: async (runId) => {
      const proxy = await runs.get(runId)?.made?.proxy?.catch(() => null);
      await proxy?.close();
    },
    forget: (runId) => {
      runs.get(runId)?.sweeper.close();
      runs.delete(runId);
    },
  };
}

/** A worker that somebody else has started knows the same of its run. */
export function runOf({ runId, facts }: WorkerHandle): Run {
  return { runId, feature: String(facts['feature']), shared: placesOf(facts).shared, log: placesOf(facts).log };
}

function make({ engine, settings }: ContainerLauncherOptions, run: Run): Made {
  const { repo, egress, caches } = settings;
  const volumes = Promise.all([
    egress === null ? null : egressKey(engine, run, repo),
    // Caches outlive runs: no run's label, or they would go with it.
    ...caches.map(({ volume }) => engine.createVolume(volume, { [LABEL.cache]: repo })),
  ]).then(([key]) => key);
  return { volumes, proxy: undefined };
}

async function makeProxy(
  { engine, settings }: ContainerLauncherOptions,
  { run, key, patience }: { run: Run; key: string | null; patience: Patience },
): Promise<EgressProxy | null> {
  if (settings.egress === null || key === null) return null;
  return keepEgressProxy(engine, { settings, program: await settings.egress.program, run, key, patience });
}

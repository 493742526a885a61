import path from 'node:path';
import type { WorkerSpec } from '../launcher.ts';
import { egressVolume } from './container-spec.ts';
import { keepEgressProxy } from './egress-proxy.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { LABEL, runLabels } from './labels.ts';
import type { ContainerLauncherOptions } from './settings.ts';

/** What a run has once, beside its workers: its last hand, its caches, its way out. */
interface RunParts {
  /** Resolves when a worker can be made; its way out may come a little later. */
  of(spec: WorkerSpec): Promise<{ readonly wayOut: Promise<void> }>;
  close(runId: string): Promise<void>;
}

interface Parts {
  readonly sweeper: { close(): void };
  readonly volumes: Promise<unknown>;
  readonly proxy: Promise<EgressProxy | null>;
}

export function createRunParts(options: ContainerLauncherOptions): RunParts {
  const runs = new Map<string, Parts>();
  return {
    of: async (spec) => {
      const known = runs.get(spec.runId);
      const parts = known ?? startParts(options, spec);
      if (known === undefined) runs.set(spec.runId, parts);
      await parts.volumes;
      const wayOut = parts.proxy.then((proxy) => proxy?.started);
      // Heard when the worker is there; until then it must not be a rejection that nobody hears.
      wayOut.catch(() => undefined);
      return { wayOut };
    },
    close: async (runId) => {
      const parts = runs.get(runId);
      runs.delete(runId);
      parts?.sweeper.close();
      const proxy = await parts?.proxy.catch(() => null);
      await proxy?.close();
    },
  };
}

function startParts({ engine, settings, startSweeper }: ContainerLauncherOptions, spec: WorkerSpec): Parts {
  const sweeper = startSweeper({ runId: spec.runId, lease: path.join(spec.shared, 'lease.json') });
  const { repo, egress, caches } = settings;
  const labels = { ...runLabels({ ...spec, repo }), [LABEL.role]: 'egress' };
  const volumes = Promise.all([
    ...(egress === null ? [] : [engine.createVolume(egressVolume(spec.runId), labels)]),
    // Caches outlive runs: no run's label, or they would go with it.
    ...caches.map(({ volume }) => engine.createVolume(volume, { [LABEL.cache]: repo })),
  ]);
  const proxy = volumes.then(() => (egress === null ? null : keepEgressProxy(engine, settings, egress, spec)));
  proxy.catch(() => undefined);
  return { sweeper, volumes, proxy };
}

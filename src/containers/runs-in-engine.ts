import type { Engine, Labels } from '../engines/index.ts';
import { LABEL } from './labels.ts';

/** A run that has something in the engine. */
export interface RunInEngine {
  readonly runId: string;
  readonly feature: string;
  /** Names. */
  readonly containers: readonly string[];
  readonly volumes: readonly string[];
  /** When the youngest of its containers was made; null when it has none. */
  readonly youngest: string | null;
}

/** Every run of a repository that has containers or volumes, whoever started it and whether or not it goes on. */
export async function runsInEngine(engine: Engine, repo: string): Promise<RunInEngine[]> {
  const labels = { [LABEL.repo]: repo };
  const [containers, volumes] = await Promise.all([engine.listContainers(labels), engine.listVolumes(labels)]);
  const runs = new Map<string, RunInEngine>();
  const change = (own: Labels, changed: (run: RunInEngine) => Partial<RunInEngine>): void => {
    const runId = own[LABEL.run];
    if (runId === undefined) return;
    const feature = own[LABEL.feature] ?? '';
    const known = runs.get(runId) ?? { runId, feature, containers: [], volumes: [], youngest: null };
    runs.set(runId, { ...known, ...changed(known) });
  };
  for (const { labels: own, name, createdAt } of containers) {
    change(own, (run) => ({
      containers: [...run.containers, name],
      youngest: run.youngest !== null && run.youngest > createdAt ? run.youngest : createdAt,
    }));
  }
  for (const { labels: own, name } of volumes) change(own, (run) => ({ volumes: [...run.volumes, name] }));
  return [...runs.values()];
}

/** Names of the cache volumes of a repository, which no run takes along. */
export async function cachesInEngine(engine: Engine, repo: string): Promise<string[]> {
  return (await engine.listVolumes({ [LABEL.cache]: repo })).map(({ name }) => name);
}

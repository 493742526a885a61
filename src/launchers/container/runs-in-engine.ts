import type { Engine, Labels } from '../../engines/index.ts';
import { LABEL } from './labels.ts';

/** A run that has something in the engine. */
export interface RunInEngine {
  readonly runId: string;
  readonly feature: string;
  /** Names of containers and volumes. */
  readonly names: readonly string[];
  /** When the youngest of its containers was made; null when it has none. */
  readonly youngest: string | null;
}

/** Every run of a repository that has containers or volumes, whoever started it and whether or not it goes on. */
export async function runsInEngine(engine: Engine, repo: string): Promise<RunInEngine[]> {
  const labels = { [LABEL.repo]: repo };
  const [containers, volumes] = await Promise.all([engine.listContainers(labels), engine.listVolumes(labels)]);
  const runs = new Map<string, RunInEngine>();
  const add = (own: Labels, name: string, createdAt: string | null): void => {
    const runId = own[LABEL.run];
    if (runId === undefined) return;
    const known = runs.get(runId) ?? { runId, feature: own[LABEL.feature] ?? '', names: [], youngest: null };
    const youngest =
      [known.youngest, createdAt]
        .filter((at) => at !== null)
        .toSorted()
        .at(-1) ?? null;
    runs.set(runId, { ...known, names: [...known.names, name], youngest });
  };
  for (const { labels: own, name, createdAt } of containers) add(own, name, createdAt);
  for (const { labels: own, name } of volumes) add(own, name, null);
  return [...runs.values()];
}

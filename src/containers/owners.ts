import type { Engine, Labels } from '../engines/index.ts';
import { LABEL } from './labels.ts';

/** An owner that has something in the engine. */
export interface OwnerInEngine {
  readonly id: string;
  readonly labels: Labels;
  /** Names. */
  readonly containers: readonly string[];
  readonly volumes: readonly string[];
  /** When the youngest of its containers was made; null when it has none. */
  readonly youngest: string | null;
}

/** Every owner with these labels that has containers or volumes, whether it lives or not. */
export async function ownersInEngine(engine: Engine, labels: Labels): Promise<OwnerInEngine[]> {
  const [containers, volumes] = await Promise.all([engine.listContainers(labels), engine.listVolumes(labels)]);
  const owners = new Map<string, OwnerInEngine>();
  const change = (own: Labels, changed: (owner: OwnerInEngine) => Partial<OwnerInEngine>): void => {
    const id = own[LABEL.owner];
    if (id === undefined) return;
    const known = owners.get(id) ?? { id, labels: own, containers: [], volumes: [], youngest: null };
    owners.set(id, { ...known, ...changed(known) });
  };
  for (const { labels: own, name, createdAt } of containers) {
    change(own, ({ containers: names, youngest }) => ({
      containers: [...names, name],
      youngest: youngest !== null && youngest > createdAt ? youngest : createdAt,
    }));
  }
  for (const { labels: own, name } of volumes) change(own, (owner) => ({ volumes: [...owner.volumes, name] }));
  return [...owners.values()];
}

/** Names of the cache volumes of a repository, which no owner takes along. */
export async function cachesInEngine(engine: Engine, repo: string): Promise<string[]> {
  return (await engine.listVolumes({ [LABEL.cache]: repo })).map(({ name }) => name);
}

import type { Engine, Labels } from '../engines/index.ts';
import { reasonOf } from '../lib/index.ts';
import { LABEL } from './owner.ts';
import { sweepOwner } from './sweep.ts';

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

/** Which owners to look for, and which of them live. In doubt an owner lives. */
export interface OrphanSearch {
  readonly labels: Labels;
  isAlive(owner: OwnerInEngine): Promise<boolean>;
}

/** Owners that do not live and have left containers or volumes in the engine. */
export async function findOrphans(engine: Engine, { labels, isAlive }: OrphanSearch): Promise<OwnerInEngine[]> {
  const owners = await ownersInEngine(engine, labels);
  const alive = await Promise.all(owners.map(isAlive));
  return owners.filter((_, index) => alive[index] === false);
}

/** Removes them, and returns a text for each. One that cannot be removed is only named. */
export async function removeOrphans(engine: Engine, search: OrphanSearch): Promise<string[]> {
  const notes: string[] = [];
  for (const { id, labels, containers, volumes } of await findOrphans(engine, search)) {
    const owner = `${labels[LABEL.kind] ?? 'owner'} ${id}`;
    const names = [...containers, ...volumes].join(', ');
    try {
      await sweepOwner(engine, id);
      notes.push(`removed what ${owner} had left behind: ${names}`);
    } catch (error) {
      notes.push(`what ${owner} has left behind could not be removed (${names}): ${reasonOf(error)}`);
    }
  }
  return notes;
}

/** Every owner with these labels that has containers or volumes, whether it lives or not. */
async function ownersInEngine(engine: Engine, labels: Labels): Promise<OwnerInEngine[]> {
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

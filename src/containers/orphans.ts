import type { Engine, Labels } from '../engines/index.ts';
import { reasonOf } from '../lib/index.ts';
import { LABEL } from './labels.ts';
import { ownersInEngine } from './owners.ts';
import type { OwnerInEngine } from './owners.ts';
import { sweepOwner } from './sweep.ts';

/** What to look for, and how to tell that an owner lives. In doubt it lives. */
export interface OrphanSearch {
  readonly labels: Labels;
  isAlive(owner: OwnerInEngine): Promise<boolean>;
}

/** Owners whose containers and volumes have been left in the engine. */
export async function findOrphans(engine: Engine, { labels, isAlive }: OrphanSearch): Promise<OwnerInEngine[]> {
  const owners = await ownersInEngine(engine, labels);
  const alive = await Promise.all(owners.map(isAlive));
  return owners.filter((_, index) => alive[index] === false);
}

/** Removes them, and says which they were. One that cannot be removed does no harm. */
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

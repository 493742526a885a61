import { counted, reasonOf } from '../lib/index.ts';
import { openSnapshotStore, whichAreFree } from '../snapshots/index.ts';
import type { KeptSnapshot, SnapshotStore } from '../snapshots/index.ts';
import { featuresWithState } from '../state/index.ts';
import type { Cleaning } from './engine-traces.ts';
import { snapshotsOf } from './project.ts';
import type { Project } from './project.ts';
import { snapshotsInUse } from './wire-snapshots.ts';

/** The snapshots of this repository. Scripts read it from `cleanup --json`. */
export interface LeftSnapshots {
  readonly snapshots: readonly Pick<KeptSnapshot, 'id' | 'bytes' | 'usedAt'>[];
  /** Why others stay. */
  readonly keptSnapshots: string | null;
}

type Asked = Pick<Cleaning, 'project' | 'feature' | 'env'>;

/** Those of this repository that no live run uses. */
export async function findSnapshots({ project, feature, env }: Asked): Promise<LeftSnapshots> {
  const { root } = project.repository;
  const own = (await storeOf(project, feature).list()).filter(({ repository }) => repository === root);
  if (own.length === 0) return { snapshots: [], keptSnapshots: null };
  try {
    const { findEngine } = await import('../engines/index.ts');
    const inUse = await snapshotsInUse(await findEngine(env));
    const free = whichAreFree(own, { now: Date.now(), inUse, isLive: await isAnyLive(project) });
    const kept = own.length - free.length;
    const keptSnapshots = kept === 0 ? null : `${counted(kept, 'snapshot')} of this repository: a live run uses it`;
    return { snapshots: free.map(({ id, bytes, usedAt }) => ({ id, bytes, usedAt })), keptSnapshots };
  } catch (error) {
    const why = `the engine does not say which are in use: ${reasonOf(error)}`;
    return { snapshots: [], keptSnapshots: `${counted(own.length, 'snapshot')} of this repository: ${why}` };
  }
}

/** Those that were used since they were listed stay. */
export async function removeSnapshots({ snapshots }: LeftSnapshots, { project, feature }: Asked): Promise<void> {
  const store = storeOf(project, feature);
  for (const one of snapshots) await store.remove(one);
}

function storeOf(project: Project, feature: string): SnapshotStore {
  return openSnapshotStore(snapshotsOf(project.paths.placeOf(feature).top));
}

/** A run that has just begun may be about to use one. */
async function isAnyLive(project: Project): Promise<boolean> {
  const features = await featuresWithState(project.paths);
  const holders = await Promise.all(features.map((name) => project.store(name).holder()));
  return holders.some((holder) => holder !== undefined);
}

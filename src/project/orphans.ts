import { LABEL as OWNER_LABEL } from '../containers/index.ts';
import type { OrphanSearch, OwnerInEngine } from '../containers/index.ts';
import { RUN_LABEL } from '../launchers/index.ts';
import { modifiedAt } from '../lib/index.ts';
import { isFeatureName } from './feature-name.ts';
import type { Project } from './project.ts';
import { shellFolders } from './shell-folders.ts';

/** Time beyond the lease in which a killed run can be resumed with its workers. */
const GRACE_MS = 30_000;

interface Asking {
  readonly project: Project;
  /** How long workers live without an orchestrator. */
  readonly leaseMs: number;
  /** The feature whose lock we hold, and its live run, if there is one. */
  readonly mine: { readonly feature: string; readonly runId: string | null } | null;
}

/** How to find what runs of this repository have left in the engine. */
export function orphanRuns(asking: Asking): OrphanSearch {
  const labels = { [RUN_LABEL.repo]: asking.project.repository.root };
  return { labels, isAlive: (owner) => isAlive(owner, asking) };
}

/**
 * True in doubt. A live orchestrator is known by its lock. A wall clock that is set forward makes workers of a dead one
 * orphans too early, and a resumed run does their tasks again.
 */
async function isAlive(owner: OwnerInEngine, { project, leaseMs, mine }: Asking): Promise<boolean> {
  const feature = owner.labels[RUN_LABEL.feature] ?? '';
  if (owner.labels[OWNER_LABEL.kind] === 'shell')
    return !isFeatureName(feature) || shellFolders(project, feature).isAlive(owner.id);
  if (mine !== null && feature === mine.feature) return owner.id === mine.runId;
  if (!isFeatureName(feature)) return true;
  const store = project.store(feature);
  if ((await store.holder()) !== undefined) return true;
  const lastSign = await modifiedAt(store.paths.lease);
  const since = Math.max(lastSign, owner.youngest === null ? 0 : Date.parse(owner.youngest));
  return Date.now() - since < leaseMs + GRACE_MS;
}

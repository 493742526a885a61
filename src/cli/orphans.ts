import { stat } from 'node:fs/promises';
import type { Engine } from '../engines/index.ts';
import { runsInEngine, sweepRun } from '../launchers/index.ts';
import type { RunInEngine } from '../launchers/index.ts';
import { reasonOf } from '../lib/index.ts';
import { isFeatureName } from './project.ts';
import type { Project } from './project.ts';

/** Beyond the lease: a run that was broken off just now may be resumed, and its workers end by themselves. */
const GRACE_MS = 30_000;

interface Asking {
  readonly project: Project;
  /** How long workers live without an orchestrator. */
  readonly leaseMs: number;
  /** A feature whose lock we hold, and the run of it that goes on; null for none. */
  readonly mine: { readonly feature: string; readonly runId: string | null } | null;
}

/** What runs of this repository have left in the engine and nobody owns any more. */
export async function findOrphans(engine: Engine, asking: Asking): Promise<RunInEngine[]> {
  const runs = await runsInEngine(engine, asking.project.repository.root);
  const owned = await Promise.all(runs.map((run) => isOwned(run, asking)));
  return runs.filter((_, index) => !owned[index]);
}

/**
 * In doubt it is. A live orchestrator is known by its lock; a wall clock that is set forward only ends the workers of a dead
 * one sooner, and a resumed run does their tasks again.
 */
async function isOwned(run: RunInEngine, { project, leaseMs, mine }: Asking): Promise<boolean> {
  if (mine !== null && run.feature === mine.feature) return run.runId === mine.runId;
  if (!isFeatureName(run.feature)) return true;
  const store = project.store(run.feature);
  if ((await store.holder()) !== undefined) return true;
  const lastSign = await modifiedAt(store.paths.lease);
  const since = Math.max(lastSign, run.youngest === null ? 0 : Date.parse(run.youngest));
  return Date.now() - since < leaseMs + GRACE_MS;
}

/** Removes them, and tells which they were. One that cannot be removed is in nobody's way. */
export async function reapOrphans(engine: Engine, asking: Asking): Promise<string[]> {
  const notes: string[] = [];
  for (const { runId, containers, volumes } of await findOrphans(engine, asking)) {
    const names = [...containers, ...volumes].join(', ');
    try {
      await sweepRun(engine, runId);
      notes.push(`removed what run ${runId} had left behind: ${names}`);
    } catch (error) {
      notes.push(`what run ${runId} has left behind could not be removed (${names}): ${reasonOf(error)}`);
    }
  }
  return notes;
}

async function modifiedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

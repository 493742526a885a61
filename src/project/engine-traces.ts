import type { Engine } from '../engines/index.ts';
import { cachesInEngine, findOrphans, sweepOwner } from '../containers/index.ts';
import type { OwnerInEngine } from '../containers/index.ts';
import { RUN_LABEL } from '../launchers/index.ts';
import { asAppError, reasonOf } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { StateStore } from '../state/index.ts';
import { orphanRuns } from './orphans.ts';
import type { Project } from './project.ts';

/** A run that has left something in the engine. Scripts read it from `cleanup --json`. */
interface LeftRun extends Omit<OwnerInEngine, 'id' | 'labels'> {
  readonly runId: string;
  readonly feature: string;
}

/** What a cleanup takes out of the container engine. */
export interface EngineTraces {
  /** Runs of this feature, and others of this repository that have no owner any more. */
  readonly runs: readonly LeftRun[];
  /** Cache volumes of this repository, if they are to be removed. */
  readonly caches: readonly string[];
  /** What the engine could not list or remove, and why. */
  readonly problems: readonly string[];
}

export const NO_TRACES: EngineTraces = { runs: [], caches: [], problems: [] };

/** What is to be cleaned up. */
export interface Cleaning {
  readonly project: Project;
  readonly feature: string;
  readonly store: StateStore;
  /** Whether cache volumes are removed too. */
  readonly caches: boolean;
  readonly env: Environment;
}

/** Asks the engine. An engine that does not answer is a problem in the result, not an error. */
export async function findEngineTraces(cleaning: Cleaning): Promise<EngineTraces> {
  return orProblem('what containers have left could not be seen', async () => look(await open(cleaning), cleaning));
}

/** Removes what was listed, unless a live owner has it by now. The caller holds the feature's lock. */
export async function removeEngineTraces(shown: EngineTraces, cleaning: Cleaning): Promise<EngineTraces> {
  if (shown.runs.length === 0 && shown.caches.length === 0) return NO_TRACES;
  return orProblem('what containers have left could not be removed', async () => {
    const engine = await open(cleaning);
    const now = await look(engine, { ...cleaning, held: true });
    const still = now.runs.filter(({ runId }) => shown.runs.some((run) => run.runId === runId));
    const tries = [
      ...still.map(({ runId }) => removing(`run ${runId}`, () => sweepOwner(engine, runId))),
      ...shown.caches.map((name) => removing(`cache ${name}`, () => engine.removeVolume(name))),
    ];
    return { ...now, runs: still, problems: (await Promise.all(tries)).flat() };
  });
}

async function open({ env }: Cleaning): Promise<Engine> {
  const { findEngine } = await import('../engines/index.ts');
  return findEngine(env);
}

async function look(
  engine: Engine,
  { project, feature, store, caches, held = false }: Cleaning & { readonly held?: boolean },
): Promise<EngineTraces> {
  const live = !held && (await store.holder()) !== undefined;
  // Without a configuration the lease is unknown, so containers of other features are kept.
  const config = await project.config().catch(() => undefined);
  const leaseMs = config?.workers.lease ?? Infinity;
  const search = orphanRuns({ project, leaseMs, mine: live ? null : { feature, runId: null } });
  const runs = (await findOrphans(engine, search)).map(asRun);
  return { runs, caches: caches ? await cachesInEngine(engine, project.repository.root) : [], problems: [] };
}

function asRun({ id: runId, labels, containers, volumes, youngest }: OwnerInEngine): LeftRun {
  return { runId, feature: labels[RUN_LABEL.feature] ?? '', containers, volumes, youngest };
}

async function removing(what: string, remove: () => Promise<unknown>): Promise<string[]> {
  try {
    await remove();
    return [];
  } catch (error) {
    return [`${what} could not be removed from the engine: ${reasonOf(error)}`];
  }
}

async function orProblem(what: string, work: () => Promise<EngineTraces>): Promise<EngineTraces> {
  try {
    return await work();
  } catch (error) {
    return { ...NO_TRACES, problems: [`${what}: ${asAppError(error).message}`] };
  }
}

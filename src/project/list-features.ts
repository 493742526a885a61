import { findTraces, mergedFeatures } from '../git/index.ts';
import { asAppError, firstLine, isThere } from '../lib/index.ts';
import { workedMs } from '../orchestrator/index.ts';
import { branchNames } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { namesIn } from './choose-feature.ts';
import { loadGraph } from './find-graph.ts';
import { runFolders } from './left-work.ts';
import { needsRetry } from './needs-retry.ts';
import { graphPlace } from './project.ts';
import type { Project } from './project.ts';
import { findRequirements } from './requirements-file.ts';

/**
 * How far a feature is: `empty`, without documents; `planned`, its requirements are a draft; `approved`; `designed`, it has a
 * task graph; the status of its run; `merged`, another branch has all its work; `left`, its state is gone and its work is
 * there; `unreadable`.
 */
export type FeatureStanding =
  | 'empty'
  | 'planned'
  | 'approved'
  | 'designed'
  | RunState['status']
  | 'merged'
  | 'left'
  | 'unreadable';

export interface FeatureRow {
  readonly feature: string;
  readonly standing: FeatureStanding;
  /** Of its run, else of its task graph; null when it has neither. */
  readonly tasks: { readonly done: number; readonly total: number } | null;
  /** When its run began, and when it was saved last. */
  readonly startedAt: string | null;
  readonly updatedAt: string | null;
  /** How long orchestrators have driven its run, up to when it was saved last. */
  readonly workedMs: number | null;
  /** A resume of its run would find nothing to do before failed tasks get new tries. */
  readonly needsRetry: boolean;
  /** Why it stands so, where that is not clear by itself. */
  readonly cause: string | null;
}

const NOTHING = { tasks: null, startedAt: null, updatedAt: null, workedMs: null, needsRetry: false, cause: null };

/** All features of the user, by name. Changes nothing, and asks no engine. */
export async function listFeatures(project: Project): Promise<FeatureRow[]> {
  const { own, links } = await namesIn(project);
  const merged = await mergedFeatures(project.repository);
  return Promise.all([...own, ...links].toSorted().map((feature) => rowOf(project, feature, merged.get(feature))));
}

export async function featureRow(project: Project, feature: string): Promise<FeatureRow> {
  const merged = await mergedFeatures(project.repository);
  return rowOf(project, feature, merged.get(feature));
}

/** `merged`: a commit of another branch that has work of it. */
async function rowOf(project: Project, feature: string, merged: string | undefined): Promise<FeatureRow> {
  try {
    const state = await project.store(feature).read();
    const found = state === undefined ? await withoutRun(project, feature, merged) : await withRun(project, state);
    return { feature, ...NOTHING, ...found };
  } catch (error) {
    return { feature, ...NOTHING, standing: 'unreadable', cause: firstLine(asAppError(error).message) };
  }
}

type Found = Partial<FeatureRow> & Pick<FeatureRow, 'standing'>;

async function withRun(project: Project, state: RunState): Promise<Found> {
  const { startedAt, updatedAt, status, feature } = state;
  const all = Object.values(state.tasks);
  const tasks = { done: all.filter((task) => task.status === 'complete').length, total: all.length };
  const worked = workedMs(state, Date.parse(updatedAt));
  const facts = {
    tasks,
    startedAt,
    updatedAt,
    workedMs: worked,
    needsRetry: needsRetry(state),
    cause: status === 'complete' ? null : state.cause,
  };
  if (status === 'complete') return { ...facts, standing: (await isMerged(project, state)) ? 'merged' : 'complete' };
  const isGone = status === 'running' && (await project.store(feature).holder()) === undefined;
  return isGone ? { ...facts, standing: 'stopped', cause: 'the orchestrator is gone' } : { ...facts, standing: status };
}

async function isMerged({ repository, paths }: Project, { feature, integrationTip }: RunState): Promise<boolean> {
  const folders = runFolders(paths.feature(feature));
  return (await findTraces(repository, feature, folders, integrationTip)).unmerged === 0;
}

async function withoutRun(project: Project, feature: string, merged: string | undefined): Promise<Found> {
  const { integration } = branchNames(feature);
  if ((await project.repository.readRef(`refs/heads/${integration}`)) !== undefined)
    return { standing: 'left', cause: `the state of its run is gone; its work is in ${integration}` };
  if (merged !== undefined) return { standing: 'merged', cause: `merged in commit ${merged.slice(0, 10)}` };
  const graph = await graphPlace(project, feature);
  if (await isThere(graph)) {
    const { tasks } = (await loadGraph(graph, 'off')).graph;
    return { standing: 'designed', tasks: { done: 0, total: tasks.length } };
  }
  const requirements = await findRequirements(project, feature);
  if (requirements === undefined) return { standing: 'empty' };
  return { standing: requirements.standing === 'approved' ? 'approved' : 'planned' };
}

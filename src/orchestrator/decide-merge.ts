import type { RunState } from '../state/index.ts';
import { attemptFailed, record } from './plan.ts';
import type { ActionOf, Snapshot } from './plan.ts';
import { currentLevel } from './survey.ts';

/** How the merge of one task ended. */
export type MergeEnd =
  | { readonly kind: 'merged'; readonly task: string; readonly tip: string }
  | { readonly kind: 'too-large'; readonly task: string; readonly tooMuch: string }
  | {
      readonly kind: 'conflict';
      readonly task: string;
      readonly files: readonly string[];
      /** The merged tasks that changed one of the files. */
      readonly others: readonly string[];
    };

export interface Merges {
  readonly level: number;
  /** The commit that the first of them was merged onto. */
  readonly onto: string;
  readonly ends: readonly MergeEnd[];
}

/** Some of a level's merges are missing in the repository: all are made anew. */
export function trialBroken(level: number): ActionOf<'record'> {
  return record({ type: 'trial-dropped', level, cause: 'the repository has not all of it any more' });
}

/** The merged commit that a level has so far. */
export function tipOf(state: RunState, level: number): string {
  return state.levels[level]?.trial?.tips.at(-1) ?? state.integrationTip;
}

/**
 * What merges lead to: a task that could not be merged has failed an attempt, and the others stay merged. When a lower
 * level was opened again meanwhile, the merges do not count: the tasks are merged anew on what that level publishes.
 */
export function decideMerges(
  { state, graph }: Pick<Snapshot, 'state' | 'graph'>,
  { level, onto, ends }: Merges,
): ActionOf<'record'>[] {
  if (currentLevel({ state, graph }) !== level || tipOf(state, level) !== onto) return [];
  return ends.flatMap((end) => {
    if (end.kind === 'merged') return [record({ type: 'task-merged', level, task: end.task, tip: end.tip })];
    const attempt = state.tasks[end.task]?.attempts.at(-1);
    if (attempt === undefined) return [];
    return [attemptFailed(end.task, attempt, { outcome: end.kind, ...reasonOf(end), charge: 'failure' })];
  });
}

function reasonOf(end: Exclude<MergeEnd, { readonly kind: 'merged' }>): { detail: string; feedback: string } {
  if (end.kind === 'too-large') {
    return { detail: end.tooMuch, feedback: `Your change could not be merged: with it, ${end.tooMuch}.` };
  }
  const detail = `conflict with ${end.others.join(', ') || 'the integration branch'} in ${end.files.join(', ')}`;
  const again = 'Do the task again on top of the tree that you find now, which has the other change in it.';
  return { detail, feedback: `Your change could not be merged: ${detail}. ${again}` };
}

import type { MergeChain } from '../git/index.ts';
import type { RunState } from '../state/index.ts';

/** The merges of a level that are not published, as the state has them. Pure. */
export function trialChain(state: RunState, level: number): MergeChain {
  const { tasks = [], tips = [] } = state.levels[level]?.trial ?? {};
  const steps = tasks.map((task, index) => ({
    task,
    base: state.tasks[task]?.attempts.findLast(({ outcome }) => outcome === 'accepted')?.base ?? '',
    commit: state.tasks[task]?.commit ?? '',
    before: tips[index - 1] ?? state.integrationTip,
    after: tips[index] ?? '',
  }));
  return { from: state.integrationTip, tip: tips.at(-1) ?? state.integrationTip, steps };
}

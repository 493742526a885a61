import { listed } from '../../lib/index.ts';
import type { RunState } from '../../state/index.ts';

const SHOWN = 3;

/** Pure. That the work of a run is in other branches: of a run that is not complete, what it has merged so far. */
export function hasAllOf(
  { feature, status }: Pick<RunState, 'feature' | 'status'>,
  branches: readonly string[],
): string {
  const what = status === 'complete' ? `everything of "${feature}"` : `what is done of "${feature}" so far`;
  return `${listed(branches, SHOWN)} ${branches.length === 1 ? 'has' : 'have'} ${what}`;
}

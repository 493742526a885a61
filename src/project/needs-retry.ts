import type { RunState } from '../state/index.ts';

/** Pure. Whether a resume would find nothing to do: all that is not done has failed, or waits for what has failed. */
export function needsRetry({ tasks }: Pick<RunState, 'tasks'>): boolean {
  const open = Object.values(tasks).filter(({ status, merged }) => !(status === 'complete' && merged));
  return open.length > 0 && open.every(({ status }) => status === 'failed' || status === 'blocked');
}

import { counted, listed } from '../lib/text/words.ts';
import { foreignPaths, steeringPaths } from '../tasks/index.ts';
import type { Task } from '../tasks/index.ts';
import type { RunSettings } from '../state/index.ts';

const SHOWN_PATHS = 20;

export type OwnershipVerdict =
  | { readonly kind: 'none' }
  | { readonly kind: 'warned' | 'refused'; readonly detail: string; readonly feedback: string };

/** What a task changed beyond its own files. Steering files are refused under every setting. */
export function checkOwnership(
  task: Pick<Task, 'files'>,
  changed: readonly string[],
  ownership: RunSettings['ownership'],
): OwnershipVerdict {
  const foreign = foreignPaths(task, changed);
  const steering = steeringPaths(task, changed);
  const others = foreign.filter((path) => !steering.includes(path));
  // Shown first: the list may be cut.
  if (ownership === 'enforce' && foreign.length > 0) return verdict('refused', [...steering, ...others]);
  if (steering.length > 0) return verdict('refused', steering);
  return ownership === 'warn' && foreign.length > 0 ? verdict('warned', foreign) : { kind: 'none' };
}

function verdict(kind: 'warned' | 'refused', paths: readonly string[]): OwnershipVerdict {
  const detail = `changed ${counted(paths.length, 'file')} that it does not own: ${shownPaths(paths)}`;
  const advice =
    'Only the files named under "create" and "modify" may change; put everything else back as it was. ' +
    'A glob never means a file in .mahabharatha/.';
  return { kind, detail, feedback: `The task ${detail}.\n${advice}` };
}

export function shownPaths(paths: readonly string[]): string {
  return listed(paths, SHOWN_PATHS);
}

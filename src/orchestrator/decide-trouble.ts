import type { WorkerState } from '../state/index.ts';
import { record } from './plan.ts';
import type { Action, WorkerView } from './plan.ts';

/** So many causes are shown of one session: a task can make its worker report new ones without end. */
const MOST_TOLD = 5;

/** Shows why an agent waits for its model, each cause once. Nothing else is decided by it. */
export function tellTrouble(worker: number, known: WorkerState, view: WorkerView): Action[] {
  const { task, trouble: shown, toldTroubles } = known;
  // The end of an attempt ends its trouble, and does not show whether the model answers again.
  if (task === null || view.phase !== 'running') return [];
  const { trouble } = view;
  if (trouble === null) return shown === null ? [] : [record({ type: 'worker-recovered', worker, task })];
  if (toldTroubles.includes(trouble) || toldTroubles.length >= MOST_TOLD) return [];
  return [record({ type: 'worker-trouble', worker, task, text: trouble })];
}

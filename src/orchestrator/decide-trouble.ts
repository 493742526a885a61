import type { WorkerState } from '../state/index.ts';
import { record } from './plan.ts';
import type { Action, WorkerView } from './plan.ts';

/** So many causes are told of one life of a worker: a task can make it say others without end. */
const MOST_TOLD = 5;

/** What people should hear while an agent waits for its model, each cause once. Only what is shown depends on it. */
export function tellTrouble(worker: number, known: WorkerState, view: WorkerView): Action[] {
  const { task, trouble: shown, toldTroubles } = known;
  // At the end of an attempt its trouble ends with it, and nobody knows whether the model answers.
  if (task === null || view.phase !== 'running') return [];
  const { trouble } = view;
  if (trouble === null) return shown === null ? [] : [record({ type: 'worker-recovered', worker, task })];
  if (toldTroubles.includes(trouble) || toldTroubles.length >= MOST_TOLD) return [];
  return [record({ type: 'worker-trouble', worker, task, text: trouble })];
}

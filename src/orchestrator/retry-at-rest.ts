import type { RunState } from '../state/index.ts';
import { openJournal } from './journal.ts';
import type { Ports } from './ports.ts';

/** Gives tasks of a run without an orchestrator new tries. The caller holds the feature's lock. */
export async function retryAtRest(
  ports: Pick<Ports, 'clock' | 'store' | 'emit'>,
  state: RunState,
  tasks: readonly string[],
): Promise<RunState> {
  const journal = openJournal(ports, state);
  for (const task of tasks) journal.record({ type: 'task-reset', task, cause: 'asked to retry' });
  await journal.checkpoint();
  return journal.state;
}

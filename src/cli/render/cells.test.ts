import { describe, expect, it } from 'vitest';
import { createWorld } from '../../../test/support/decision-world.ts';
import type { RecordedEvent, RunEvent, RunState } from '../../state/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import { createCells, endAll, moveBy } from './cells.ts';
import type { Cell } from './cells.ts';

const graph = {
  levels: [1, 2],
  tasks: ['A', 'B', 'C'].map((id) => ({ id, level: id === 'C' ? 2 : 1 })),
} as unknown as TaskGraph;

const { state: fresh } = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C', needs: ['A'] }]);

const at = (event: RunEvent): RecordedEvent => ({ ...event, at: '' });
const started = (task: string): RecordedEvent =>
  at({ type: 'attempt-started', task, attempt: 1, worker: 0, base: '', cause: '' });
const failed = (task: string, commit: string | null): RecordedEvent => {
  const end = { outcome: 'interrupted', detail: '', feedback: null, charge: 'nothing', notBefore: null } as const;
  return at({ type: 'attempt-failed', task, attempt: 1, worker: 0, usage: null, commit, ...end });
};
const accepted = (task: string): RecordedEvent =>
  at({ type: 'attempt-accepted', task, attempt: 1, worker: 0, commit: '', detail: '', usage: null });
const finished = (level: number): RecordedEvent =>
  at({ type: 'level-finished', level, status: 'complete', cause: 'all tasks are merged' });

const wordsOf = async (name: string, { ended }: Cell): Promise<string> =>
  `${name} ${(await ended.promise).words.toString()}`;

/** What each row says at last, when these events were all and the run then ended in this state. */
async function rowsAfter(events: readonly RecordedEvent[], state?: RunState): Promise<string> {
  const cells = createCells(graph);
  for (const event of events) moveBy(event, cells);
  endAll(cells, state);
  const rows = [
    ...[...cells.tasks].map(([id, cell]) => wordsOf(id, cell)),
    ...[...cells.levels].flatMap(([number, { level, merging }]) => [
      wordsOf(`${number}`, level),
      wordsOf(`merge ${number}`, merging),
    ]),
  ];
  return (await Promise.all(rows)).join(', ');
}

describe('the rows of a run that is over', () => {
  it('say how far each task has come when it was stopped', async () => {
    expect(await rowsAfter([started('A'), accepted('A'), started('B'), failed('B', 'c0ffee')])).toBe(
      'A done, B stopped; its work so far is kept, C not begun, 1 stopped, merge 1 not begun, 2 not begun, merge 2 not begun',
    );
  });

  it('do not say that work is kept when there is none', async () => {
    expect(await rowsAfter([started('A'), failed('A', null), started('B')])).toContain('A stopped, B stopped, C not');
  });

  it('show work that was done before the run was resumed, from the level or from the state', async () => {
    expect(await rowsAfter([finished(1), started('C')])).toContain('A done, B done, C stopped, 1 done');
    const tasks = Object.entries(fresh.tasks).map(([id, task]) => {
      const status = ({ A: 'complete', B: 'failed', C: 'blocked' } as const)[id] ?? task.status;
      return [id, { ...task, status, cause: `because\nof ${id}` }] as const;
    });
    expect(await rowsAfter([], { ...fresh, tasks: Object.fromEntries(tasks) })).toContain(
      'A done, B failed: because, C blocked: because, 1 not begun',
    );
  });

  it('go on with the worker that a resumed run has taken over', async () => {
    expect(await rowsAfter([at({ type: 'worker-kept', worker: 0, doing: 'B' })])).toMatch(/^A not begun, B stopped,/);
  });

  it('say nothing of a merge where there was nothing to merge', async () => {
    expect(await rowsAfter([started('A'), accepted('A'), finished(1)])).toContain('1 done, merge 1 nothing to merge');
    const merged = at({ type: 'task-merged', level: 1, task: 'A', tip: '' });
    expect(await rowsAfter([merged, finished(1)])).toContain('1 done, merge 1 done');
  });
});

import { Listr, ListrTaskState } from 'listr2';
import type { ListrTask, ListrTaskWrapper, DefaultRenderer, SimpleRenderer } from 'listr2';
import { counted, line } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { RecordedEvent } from '../../state/index.ts';
import type { Task, TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import { createCells, endAll, moveBy, tell } from './cells.ts';
import type { Cell, Cells, End } from './cells.ts';
import { colorsFor } from './colors.ts';
import { describe } from './describe.ts';
import type { RunListener } from '../../project/index.ts';
import { formatSummary } from './summary.ts';

type Row = ListrTaskWrapper<unknown, typeof DefaultRenderer, typeof SimpleRenderer>;
type RowOfTask = ListrTask<unknown, typeof DefaultRenderer>;

/** Levels and their tasks as a live tree, for a person at a terminal. */
export function terminalRenderer(context: CliContext, graph: TaskGraph): RunListener {
  const colors = colorsFor(context.color);
  const cells = createCells(graph);
  const notes: string[] = [];
  const view = new Listr(
    graph.levels.map((level) => levelRow(level, graph, cells)),
    {
      concurrent: true,
      exitOnError: false,
      registerSignalListeners: false,
      // listr2 would show an error instead of the row's name; ours stands after it.
      rendererOptions: { collapseSubtasks: true, showErrorMessage: false },
    },
  );
  const shown = view.run().catch(() => undefined);
  return {
    event: (event) => show(event, cells),
    note: (text) => notes.push(text),
    close: async (end) => {
      endAll(cells, end?.state);
      await shown;
      for (const note of notes) context.err(colors.dim(line`note: ${note}\n`));
      if (end !== undefined) context.out(line`\n${formatSummary(end.state, end.network)}`);
    },
  };
}

function levelRow(level: number, graph: TaskGraph, { tasks, levels }: Cells): RowOfTask {
  const own = graph.tasks.filter((task) => task.level === level);
  const title = line`Level ${level}: ${counted(own.length, 'task')}`;
  return {
    title: title.toString(),
    task: async (_, row) => {
      const cells = levels.get(level);
      if (cells === undefined) return undefined;
      const over = follow(row, title, cells.level);
      // Its rows show what has failed.
      over.catch(() => undefined);
      const begun = cells.level.begun.promise.then(() => true);
      if (!(await Promise.race([begun, over.then(() => false)]))) return undefined;
      const rows = own.map((task) => taskRow(task, tasks.get(task.id)));
      rows.push(rowOf(line`merge and gates`, cells.merging));
      return row.newListr(rows, { concurrent: true, exitOnError: false });
    },
  };
}

const taskRow = (task: Task, cell: Cell | undefined): RowOfTask => rowOf(line`${task.id}  ${task.title}`, cell);

function rowOf(title: Printable, cell: Cell | undefined): RowOfTask {
  return {
    title: title.toString(),
    task: async (_, row) => (cell === undefined ? undefined : follow(row, title, cell)),
  };
}

/** listr2 animates every row from the start; ours wait until their work begins. */
async function follow(row: Row, title: Printable, cell: Cell): Promise<void> {
  row.task.state$ = ListrTaskState.WAITING;
  cell.show = (text) => (row.output = text.toString());
  void cell.begun.promise.then(() => {
    row.task.state$ = ListrTaskState.STARTED;
    cell.show(cell.text);
  });
  conclude(row, title, await cell.ended.promise);
}

function conclude(row: Row, title: Printable, { kind, words }: End): void {
  row.title = line`${title} — ${words}`.toString();
  if (kind === 'bad') throw new Error(words.toString());
  // listr2 completes only rows that have started; work of an earlier run has not started in this one.
  if (kind === 'good') row.task.state$ = ListrTaskState.STARTED;
}

function show(event: RecordedEvent, cells: Cells): void {
  const level = 'level' in event ? cells.levels.get(event.level)?.level : undefined;
  const cell = 'task' in event ? cells.tasks.get(event.task) : undefined;
  // It would take the place of what is to be known of the task.
  if (event.type === 'attempt-spent') return;
  const { text } = describe(event);
  for (const place of event.type === 'task-merged' ? [level] : [cell, level]) {
    if (place !== undefined) tell(place, text);
  }
  moveBy(event, cells);
}

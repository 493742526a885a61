import { Listr } from 'listr2';
import type { ListrTask, ListrTaskWrapper, DefaultRenderer, SimpleRenderer } from 'listr2';
import type { RecordedEvent } from '../../state/index.ts';
import type { Task, TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import { colorsFor } from './colors.ts';
import { describe } from './describe.ts';
import type { Renderer } from './renderer.ts';
import { formatSummary } from './summary.ts';

type Row = ListrTaskWrapper<unknown, typeof DefaultRenderer, typeof SimpleRenderer>;

/** One row of the live view: it opens when its work begins and settles when it ends. */
interface Cell {
  row: Row | undefined;
  /** What it shows; may be known before there is a row to show it in. */
  text: string;
  readonly begun: Settleable;
  readonly ended: Settleable;
}

/** Levels and their tasks as a live tree, for a person at a terminal. */
export function terminalRenderer(context: CliContext, graph: TaskGraph): Renderer {
  const colors = colorsFor(context.color);
  const cells = new Map<string, Cell>(graph.tasks.map((task) => [task.id, newCell()]));
  const levels = new Map<number, Cell>(graph.levels.map((level) => [level, newCell()]));
  const notes: string[] = [];
  const view = new Listr(
    graph.levels.map((level) =>
      levelRow(
        level,
        graph.tasks.filter((task) => task.level === level),
        levels,
        cells,
      ),
    ),
    {
      concurrent: true,
      exitOnError: false,
      registerSignalListeners: false,
      rendererOptions: { collapseSubtasks: true },
    },
  );
  const shown = view.run().catch(() => undefined);
  return {
    event: (event) => show(event, cells, levels),
    note: (text) => notes.push(text),
    close: async (end) => {
      for (const cell of [...cells.values(), ...levels.values()]) settle(cell, 'not begun');
      await shown;
      for (const note of notes) context.err(colors.dim(`note: ${note}\n`));
      if (end !== undefined) context.out(`\n${formatSummary(end.state, end.network)}`);
    },
  };
}

function newCell(): Cell {
  const cell = { row: undefined, text: 'waiting', begun: withResolvers(), ended: withResolvers() };
  cell.ended.promise.catch(() => undefined);
  return cell;
}

/** What Promise.withResolvers gives; Node 20 has it not. */
interface Settleable {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

function withResolvers(): Settleable {
  const ends: { resolve?: () => void; reject?: (reason: Error) => void } = {};
  const promise = new Promise<void>((resolve, reject) => void Object.assign(ends, { resolve, reject }));
  return { promise, resolve: () => ends.resolve?.(), reject: (reason) => ends.reject?.(reason) };
}

function levelRow(
  level: number,
  tasks: readonly Task[],
  levels: ReadonlyMap<number, Cell>,
  cells: ReadonlyMap<string, Cell>,
): ListrTask<unknown, typeof DefaultRenderer> {
  const title = `Level ${level}: ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`;
  return {
    title,
    task: async (_, row) => {
      const cell = levels.get(level);
      if (cell === undefined) return undefined;
      cell.row = row;
      await cell.begun.promise;
      const rows = tasks.map((task) => taskRow(task, cells.get(task.id)));
      rows.push({ title: 'merge and gates', task: async (_, row) => waitFor({ ...cell, row }) });
      return row.newListr(rows, { concurrent: true, exitOnError: false });
    },
  };
}

function taskRow(task: Task, cell: Cell | undefined): ListrTask<unknown, typeof DefaultRenderer> {
  return {
    title: `${task.id}  ${task.title}`,
    task: async (_, row) => {
      if (cell === undefined) return;
      cell.row = row;
      tell(cell, cell.text);
      await waitFor(cell);
    },
  };
}

async function waitFor(cell: Cell): Promise<void> {
  await cell.ended.promise;
}

function show(event: RecordedEvent, cells: ReadonlyMap<string, Cell>, levels: ReadonlyMap<number, Cell>): void {
  const level = 'level' in event ? levels.get(event.level) : undefined;
  const cell = 'task' in event ? cells.get(event.task) : undefined;
  const { text } = describe(event);
  for (const place of event.type === 'task-merged' ? [level] : [cell, level]) {
    if (place !== undefined) tell(place, text);
  }
  settleBy(event, cell, level);
}

function tell(cell: Cell, text: string): void {
  cell.text = text;
  if (cell.row !== undefined) cell.row.output = text;
}

function settleBy(event: RecordedEvent, cell: Cell | undefined, level: Cell | undefined): void {
  switch (event.type) {
    case 'level-started':
      return level?.begun.resolve();
    case 'attempt-accepted':
      return cell?.ended.resolve();
    case 'task-failed':
    case 'task-blocked':
      return cell?.ended.reject(new Error(describe(event).text));
    case 'level-finished':
      return event.status === 'complete'
        ? level?.ended.resolve()
        : level?.ended.reject(new Error(describe(event).text));
    default:
      return undefined;
  }
}

function settle(cell: Cell, why: string): void {
  cell.begun.resolve();
  cell.ended.reject(new Error(why));
}

import { Listr } from 'listr2';
import type { ListrTask, ListrTaskWrapper, DefaultRenderer, SimpleRenderer } from 'listr2';
import type { RecordedEvent, RunState } from '../../state/index.ts';
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
  readonly begun: Settleable;
  readonly ended: Settleable;
}

/** Levels and their tasks as a live tree, for a person at a terminal. */
export function terminalRenderer(context: CliContext, graph: TaskGraph): Renderer {
  const colors = colorsFor(context.color);
  const cells = new Map<string, Cell>(graph.tasks.map((task) => [task.id, newCell()]));
  const levels = new Map<number, Cell>(graph.levels.map((level) => [level, newCell()]));
  const notes: string[] = [];
  const view = new Listr<unknown, 'default', 'simple'>(
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
    close: async (state: RunState | undefined) => {
      for (const cell of [...cells.values(), ...levels.values()]) settle(cell, 'not begun');
      await shown;
      for (const note of notes) context.err(colors.dim(`note: ${note}\n`));
      if (state !== undefined) context.out(`\n${formatSummary(state)}`);
    },
  };
}

function newCell(): Cell {
  const cell = { row: undefined, begun: withResolvers(), ended: withResolvers() };
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
  let resolve: () => void = () => undefined;
  let reject: (reason: Error) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
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
      await waitFor(cell);
    },
  };
}

async function waitFor(cell: Cell): Promise<void> {
  await cell.ended.promise;
}

function show(event: RecordedEvent, cells: ReadonlyMap<string, Cell>, levels: ReadonlyMap<number, Cell>): void {
  const { text } = describe(event);
  const level = 'level' in event ? levels.get(event.level) : undefined;
  const cell = 'task' in event ? cells.get(event.task) : undefined;
  if (cell?.row !== undefined && event.type !== 'task-merged') cell.row.output = text;
  if (level?.row !== undefined) level.row.output = text;
  switch (event.type) {
    case 'level-started':
      return level?.begun.resolve();
    case 'attempt-accepted':
      return cell?.ended.resolve();
    case 'task-failed':
    case 'task-blocked':
      return cell?.ended.reject(new Error(text));
    case 'level-finished':
      return event.status === 'complete' ? level?.ended.resolve() : level?.ended.reject(new Error(text));
    default:
      return undefined;
  }
}

function settle(cell: Cell, why: string): void {
  cell.begun.resolve();
  cell.ended.reject(new Error(why));
}

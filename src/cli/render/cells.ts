import { firstLine, line } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { RecordedEvent, RunState, TaskState } from '../../state/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';

/** How a row ended, in words that stand after its name; `none` when its work has not begun. */
export interface End {
  readonly kind: 'good' | 'bad' | 'none';
  readonly words: Printable;
}

/** What events say of one row of the live view. The row itself may not be there yet. */
export interface Cell {
  /** The level's cell, which begins with this one. */
  readonly within: Cell | undefined;
  /** The last event in words. */
  text: Printable;
  /** The end of this row, if the run ended now. */
  rest: End;
  readonly begun: Once<void>;
  readonly ended: Once<End>;
  /** Shows a new text; does nothing before there is a row. */
  show: (text: Printable) => void;
}

interface LevelCells {
  readonly level: Cell;
  /** The row "merge and gates". */
  readonly merging: Cell;
}

export interface Cells {
  readonly tasks: ReadonlyMap<string, Cell>;
  readonly levels: ReadonlyMap<number, LevelCells>;
}

/** As Promise.withResolvers, which Node 20 does not have. */
interface Once<Value> {
  readonly promise: Promise<Value>;
  readonly settle: (value: Value) => void;
}

const NOT_BEGUN: End = { kind: 'none', words: line`not begun` };
const STOPPED: End = { kind: 'bad', words: line`stopped` };
const KEPT: End = { kind: 'bad', words: line`stopped; its work so far is kept` };
const DONE: End = { kind: 'good', words: line`done` };

export function createCells(graph: TaskGraph): Cells {
  const levels = new Map<number, LevelCells>();
  for (const number of graph.levels) {
    const level = newCell(undefined);
    levels.set(number, { level, merging: newCell(level) });
  }
  return { tasks: new Map(graph.tasks.map((task) => [task.id, newCell(levels.get(task.level)?.level)])), levels };
}

function newCell(within: Cell | undefined): Cell {
  return { within, text: line``, rest: NOT_BEGUN, begun: once(), ended: once(), show: () => undefined };
}

function once<Value>(): Once<Value> {
  const ends: { resolve?: (value: Value) => void } = {};
  const promise = new Promise<Value>((resolve) => void Object.assign(ends, { resolve }));
  return { promise, settle: (value) => ends.resolve?.(value) };
}

export function tell(cell: Cell, text: Printable): void {
  cell.text = text;
  cell.show(text);
}

/** A resumed run does not repeat earlier events, so any event of a task or its merge counts as its beginning. */
function begin(cell: Cell | undefined): void {
  if (cell === undefined) return;
  cell.rest = STOPPED;
  cell.begun.settle();
  begin(cell.within);
}

// oxlint-disable-next-line complexity -- one case per event, each a line or two
export function moveBy(event: RecordedEvent, { tasks, levels }: Cells): void {
  const task = 'task' in event ? tasks.get(event.task) : undefined;
  const level = 'level' in event ? levels.get(event.level) : undefined;
  switch (event.type) {
    case 'level-started':
      return begin(level?.level);
    case 'worker-kept':
      return begin(tasks.get(event.doing ?? ''));
    case 'attempt-started':
    case 'attempt-verifying':
    case 'verification-started':
      return begin(task);
    case 'attempt-failed':
      begin(task);
      if (task !== undefined && event.commit !== null) task.rest = KEPT;
      return undefined;
    case 'attempt-accepted':
      begin(task);
      return task?.ended.settle(DONE);
    case 'task-failed':
      return task?.ended.settle(failure('failed', event.cause));
    case 'task-blocked':
      return task?.ended.settle(failure('blocked', event.cause));
    case 'task-merged':
    case 'gates-started':
    case 'level-published':
      return begin(level?.merging);
    case 'level-finished':
      return level && finishLevel(level, tasks, event.status === 'complete' ? DONE : failure('failed', event.cause));
    default:
      return undefined;
  }
}

/** A task of a complete level without an event was done before the run was resumed. */
function finishLevel({ level, merging }: LevelCells, tasks: Cells['tasks'], end: End): void {
  merging.ended.settle(merging.rest === NOT_BEGUN ? { kind: 'good', words: line`nothing to merge` } : DONE);
  if (end === DONE) for (const task of tasks.values()) if (task.within === level) task.ended.settle(DONE);
  level.ended.settle(end);
}

const failure = (what: string, cause: string | null): End => ({
  kind: 'bad',
  words: line`${what}: ${firstLine(cause ?? '')}`,
});

/** The run is over: open rows end as the state says, or as far as their events go. */
export function endAll({ tasks, levels }: Cells, state: RunState | undefined): void {
  for (const [id, cell] of tasks) cell.ended.settle(endOf(state?.tasks[id]) ?? cell.rest);
  for (const [number, { level, merging }] of levels) {
    const status = state?.levels[number]?.status;
    const known = status === 'complete' ? DONE : status === 'failed' ? failure('failed', 'see its tasks') : undefined;
    // listr2 keeps the rows of an interrupted level only when one of them has failed.
    const open = level.rest === NOT_BEGUN ? NOT_BEGUN : ({ ...merging.rest, kind: 'bad' } as const);
    merging.ended.settle(known ?? open);
    level.ended.settle(known ?? level.rest);
  }
}

function endOf(task: TaskState | undefined): End | undefined {
  if (task?.status === 'complete') return DONE;
  return task?.status === 'failed' || task?.status === 'blocked' ? failure(task.status, task.cause) : undefined;
}

import { clip, counted, inOneLine, listed } from '../lib/text/words.ts';
import type { Task, TaskGraph } from './graph.ts';
import { scheduleOf, USUAL_MINUTES } from './schedule.ts';

interface PlanOptions {
  readonly workers: number;
  readonly ownership: string;
  readonly gates: readonly { readonly name: string; readonly required: boolean }[];
}

/** A longer cell sticks out of its column: one long title must not push all columns off the screen. */
const WIDEST_CELL = 44;

/** What a run would do, one line for each level and each task. */
export function formatPlan(graph: TaskGraph, options: PlanOptions): string[] {
  const { tasks, levels } = graph;
  const size = `${counted(tasks.length, 'task')} in ${counted(levels.length, 'level')}`;
  const means = `${counted(options.workers, 'worker')}, ownership ${options.ownership}`;
  const rows = new Map(tasks.map((task) => [task, cells(task)]));
  const widths = columnWidths([...rows.values()]);
  const lines = [`Feature ${graph.feature}: ${size}, ${means}`];
  for (const level of levels) {
    const members = tasks.filter((task) => task.level === level);
    lines.push(levelLine(level, members.length, options.workers));
    lines.push(
      ...members.map(
        (task, index) => `${index === members.length - 1 ? '└─' : '├─'} ${align(rows.get(task) ?? [], widths)}`,
      ),
    );
  }
  lines.push(gateLine(options.gates), timeLine(graph, options.workers));
  return lines;
}

function levelLine(level: number, tasks: number, workers: number): string {
  const pace = tasks === 1 ? '' : `, ${Math.min(tasks, workers)} at a time`;
  return `Level ${level} (${counted(tasks, 'task')}${pace})`;
}

function cells(task: Task): string[] {
  return [
    task.id,
    clip(inOneLine(task.title), WIDEST_CELL),
    filesCell(task),
    task.run === null ? agentCell(task.estimateMinutes) : `runs ${clip(inOneLine(task.run), WIDEST_CELL)}`,
    task.dependencies.length === 0 ? '' : `needs ${listed(task.dependencies, 5)}`,
  ];
}

function filesCell({ files }: Task): string {
  const writes = [...new Set([...files.create, ...files.modify])];
  const parts = [
    ...(writes.length === 0 ? [] : [`writes ${listed(writes, 3)}`]),
    ...(files.delete.length === 0 ? [] : [`deletes ${listed(files.delete, 3)}`]),
  ];
  return parts.length === 0 ? 'writes nothing' : inOneLine(parts.join(', '));
}

function agentCell(minutes: number | null): string {
  return minutes === null ? 'agent' : `agent, ~${minutes} min`;
}

function columnWidths(rows: readonly string[][]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Math.min(cell.length, WIDEST_CELL));
    }
  }
  return widths;
}

function align(row: readonly string[], widths: readonly number[]): string {
  const padded = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return padded.join('  ').trimEnd();
}

/** When levels begin and end, as far as estimates know. */
function timeLine(graph: TaskGraph, workers: number): string {
  const levels = scheduleOf(graph, workers).map(({ level, from, to }) => `level ${level} from minute ${from} to ${to}`);
  const guessed = graph.tasks.some(({ estimateMinutes }) => estimateMinutes === null);
  return `Time with ${counted(workers, 'worker')}: ${levels.join(', ')}${guessed ? ` (tasks without "estimate_minutes" count as ${USUAL_MINUTES})` : ''}`;
}

function gateLine(gates: PlanOptions['gates']): string {
  if (gates.length === 0) return 'After each level: merge';
  const names = gates.map((gate) => `${inOneLine(gate.name)}${gate.required ? ' (required)' : ''}`);
  return `After each level: merge, then gates: ${names.join(', ')}`;
}

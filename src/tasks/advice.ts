import { counted, listed } from '../lib/text/words.ts';
import type { Task, TaskGraph } from './graph.ts';
import { ownedFiles } from './owned-files.ts';
import { criticalPath, minutesAt, usefulWorkers } from './schedule.ts';
import { verificationTraps } from './verification-traps.ts';

/** From here on a task is better cut. */
const MANY_FILES = 8;
const MANY_MINUTES = 60;
/** So many tasks change a file that it keeps them from running side by side. */
const HOT = 3;

export interface Advice {
  readonly criticalPath: { readonly tasks: readonly string[]; readonly minutes: number };
  /** How many tasks each level has. */
  readonly widths: readonly { readonly level: number; readonly tasks: number }[];
  readonly usefulWorkers: number;
  /** With one worker, with as many as win something, and with the wanted number. */
  readonly minutes: readonly { readonly workers: number; readonly minutes: number }[];
  /** What may go wrong, and what to do. */
  readonly notes: readonly string[];
}

/** Pure. What is to be known of a valid graph before it is built. */
export function adviceOn(graph: TaskGraph, workers: number): Advice {
  const useful = usefulWorkers(graph);
  const counts = [...new Set([1, workers, useful])].toSorted((one, other) => one - other);
  return {
    criticalPath: criticalPath(graph),
    widths: graph.levels.map((level) => ({ level, tasks: graph.tasks.filter((task) => task.level === level).length })),
    usefulWorkers: useful,
    minutes: counts.map((count) => ({ workers: count, minutes: minutesAt(graph, count) })),
    notes: [...tooLarge(graph), ...unverified(graph), ...traps(graph), ...hotFiles(graph), ...vague(graph)],
  };
}

const filesOf = ({ files }: Task): string[] => [...new Set(ownedFiles(files))];

function tooLarge({ tasks }: TaskGraph): string[] {
  return tasks.flatMap((task) => {
    const [files, minutes] = [filesOf(task).length, task.estimateMinutes ?? 0];
    if (files > MANY_FILES)
      return [`${task.id} writes ${counted(files, 'file')}: cut it into tasks that run side by side`];
    return minutes > MANY_MINUTES
      ? [`${task.id} takes ${minutes} minutes: cut it, since a failed attempt begins anew`]
      : [];
  });
}

function unverified({ tasks }: TaskGraph): string[] {
  const ids = tasks.filter((task) => task.verification === null && filesOf(task).length > 0).map(({ id }) => id);
  if (ids.length === 0) return [];
  const verb = ids.length === 1 ? 'has' : 'have';
  return [`${listed(ids, 10)} ${verb} no verification: only a gate would notice that the work is not done`];
}

function traps({ tasks }: TaskGraph): string[] {
  const byProblem = new Map<string, string[]>();
  for (const { id, verification } of tasks)
    for (const problem of verificationTraps(verification?.command ?? ''))
      byProblem.set(problem, [...(byProblem.get(problem) ?? []), id]);
  return [...byProblem].map(([problem, ids]) => `the verification of ${listed(ids, 10)} ${problem}`);
}

function hotFiles({ tasks }: TaskGraph): string[] {
  const users = new Map<string, string[]>();
  for (const task of tasks) for (const file of filesOf(task)) users.set(file, [...(users.get(file) ?? []), task.id]);
  return [...users]
    .filter(([, ids]) => ids.length >= HOT)
    .map(
      ([file, ids]) =>
        `${file} is written by ${counted(ids.length, 'task')} (${listed(ids, 5)}), which wait for each other: give it to one of them, or split it`,
    );
}

/** Agents get nothing but the task. */
function vague({ tasks }: TaskGraph): string[] {
  const ids = tasks.filter((task) => task.run === null && task.description.trim() === '').map(({ id }) => id);
  return ids.length === 0 ? [] : [`${listed(ids, 10)} without a description: its worker knows only the title`];
}

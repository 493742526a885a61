import { examineGraph } from './examine-graph.ts';
import type { Task, TaskGraph } from './graph.ts';
import { DEFAULT_TIMEOUT_SECONDS } from './schema.ts';
import type { GraphFile, TaskFile } from './schema.ts';
import type { Ownership } from './shared-files.ts';

export type ParsedGraph =
  | { readonly ok: true; readonly graph: TaskGraph; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] };

/** Reads the value in the file of a task graph. Reports all problems at once, each with its place in the file. */
export function parseGraph(value: unknown, ownership: Ownership = 'enforce'): ParsedGraph {
  const { file, levels, problems, shared, warnings } = examineGraph(value, ownership);
  if (file === undefined || problems.length > 0 || shared.problems.length > 0)
    return { ok: false, problems: [...problems, ...shared.problems], warnings };
  return { ok: true, graph: toGraph(file, levels), warnings };
}

function toGraph(file: GraphFile, levels: readonly number[]): TaskGraph {
  const tasks = file.tasks.map((task, index) => toTask(task, levels[index] ?? 1));
  const distinct = [...new Set(levels)].toSorted((a, b) => a - b);
  return { feature: file.feature, tasks, levels: distinct };
}

function toTask(task: TaskFile, level: number): Task {
  const { verification } = task;
  return {
    id: task.id,
    title: task.title || task.id,
    description: task.description ?? '',
    level,
    dependencies: [...new Set(task.dependencies)],
    files: toFiles(task.files),
    acceptanceCriteria: task.acceptance_criteria ?? [],
    context: task.context ?? '',
    verification: verification
      ? { command: verification.command, timeoutMs: toMs(verification.timeout_seconds) }
      : null,
    run: task.run ?? null,
    attempts: task.attempts ?? null,
    satisfied: task.satisfied ?? false,
    ...whoDoes(task),
    estimateMinutes: task.estimate_minutes ?? null,
  };
}

function whoDoes({ agent, model }: TaskFile): Pick<Task, 'agent' | 'model'> {
  return { agent: agent ?? null, model: model ?? null };
}

function toFiles(files: TaskFile['files']): Task['files'] {
  const { create, modify, delete: removed, read } = files ?? {};
  return { create: create ?? [], modify: modify ?? [], delete: removed ?? [], read: read ?? [] };
}

function toMs(seconds: number | null | undefined): number {
  return Math.ceil((seconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000);
}

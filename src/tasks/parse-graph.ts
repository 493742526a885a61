import { describeCycles, linkDependencies, walk } from './dependencies.ts';
import { readDrafts } from './draft.ts';
import type { Task, TaskGraph } from './graph.ts';
import { checkIds } from './ids.ts';
import { assignLevels } from './levels.ts';
import { ownFolderClaims } from './own-folder-claims.ts';
import { checkOwnership, doubleClaims } from './ownership.ts';
import { readShape } from './read-shape.ts';
import { DEFAULT_TIMEOUT_SECONDS } from './schema.ts';
import type { GraphFile, TaskFile } from './schema.ts';
import { unknownKeys } from './unknown-keys.ts';

export type ParsedGraph =
  | { readonly ok: true; readonly graph: TaskGraph; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] };

/** Reads a task graph, already parsed as JSON. Reports all problems at once, each with its place in the file. */
export function parseGraph(value: unknown): ParsedGraph {
  const shape = readShape(value);
  const drafts = readDrafts(value);
  const links = linkDependencies(drafts);
  const { order, cycles } = walk(links.needs);
  const { levels, problems: levelProblems } = assignLevels(drafts, links.needs, order);
  const own = ownFolderClaims(drafts);
  const problems = [
    ...shape.problems,
    ...checkIds(drafts),
    ...links.problems,
    ...describeCycles(drafts, cycles),
    ...levelProblems,
    ...checkOwnership(drafts, levels),
    ...own.problems,
  ];
  const warnings = [...unknownKeys(value), ...links.warnings, ...doubleClaims(drafts), ...own.warnings];
  if (shape.file === undefined || problems.length > 0) return { ok: false, problems, warnings };
  return { ok: true, graph: toGraph(shape.file, levels), warnings };
}

function toGraph(file: GraphFile, levels: readonly number[]): TaskGraph {
  const tasks = file.tasks.map((task, index) => toTask(task, levels[index] ?? 1));
  const distinct = [...new Set(levels)].toSorted((a, b) => a - b);
  return { feature: file.feature, tasks, levels: distinct };
}

function toTask(task: TaskFile, level: number): Task {
  const { verification, files } = task;
  return {
    id: task.id,
    title: task.title || task.id,
    description: task.description ?? '',
    level,
    dependencies: [...new Set(task.dependencies)],
    files: { create: files?.create ?? [], modify: files?.modify ?? [], read: files?.read ?? [] },
    acceptanceCriteria: task.acceptance_criteria ?? [],
    context: task.context ?? '',
    verification: verification
      ? { command: verification.command, timeoutMs: toMs(verification.timeout_seconds) }
      : null,
    run: task.run ?? null,
    estimateMinutes: task.estimate_minutes ?? null,
  };
}

function toMs(seconds: number | null | undefined): number {
  return Math.ceil((seconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000);
}

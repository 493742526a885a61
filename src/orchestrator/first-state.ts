import { NO_USAGE } from '../protocol/index.ts';
import type { LevelState, RunState, TaskState } from '../state/index.ts';
import type { Task, TaskGraph } from '../tasks/index.ts';

type First = Pick<RunState, 'settings' | 'base' | 'integration' | 'runId'> & { readonly now: string };

export function firstState(graph: TaskGraph, { settings, base, integration, runId, now }: First): RunState {
  return {
    version: 1,
    feature: graph.feature,
    runId,
    status: 'running',
    cause: null,
    base,
    integration,
    integrationTip: base,
    level: graph.levels[0] ?? 1,
    settings,
    tasks: Object.fromEntries(graph.tasks.map((task) => [task.id, firstTask(task)])),
    workers: {},
    levels: Object.fromEntries(graph.levels.map((level) => [level, firstLevel()])),
    cost: NO_USAGE,
    warnings: [],
    startFailures: 0,
    resumeAt: null,
    startedAt: now,
    updatedAt: now,
    drivenMs: 0,
    drivenSince: now,
    events: 0,
  };
}

export function firstTask(task: Task): TaskState {
  return {
    title: task.title,
    status: 'pending',
    level: task.level,
    attempts: [],
    failures: 0,
    losses: 0,
    backoffs: 0,
    cost: NO_USAGE,
    commit: null,
    merged: false,
    cause: null,
    feedback: null,
    notBefore: null,
  };
}

export function firstLevel(): LevelState {
  return {
    status: 'pending',
    base: null,
    trial: null,
    gateRun: null,
    gateRuns: 0,
    gateLosses: 0,
    gates: [],
    startedAt: null,
    completedAt: null,
  };
}

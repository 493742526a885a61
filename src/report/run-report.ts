import type { Usage } from '../protocol/index.ts';
import type { AttemptState, GateSummary, RecordedEvent, RunState, TaskState } from '../state/index.ts';
import { timelineOf } from './timeline.ts';
import type { Timeline } from './timeline.ts';

export interface ReportAttempt extends Pick<AttemptState, 'number' | 'worker' | 'outcome' | 'detail' | 'usage'> {
  readonly ms: number;
}

export interface ReportTask extends Pick<TaskState, 'title' | 'status' | 'level' | 'cause' | 'commit' | 'merged'> {
  readonly id: string;
  /** All of them; `attempts` has the last few. */
  readonly attemptCount: number;
  readonly attempts: readonly ReportAttempt[];
}

export interface ReportLevel {
  readonly level: number;
  readonly status: string;
  readonly gates: readonly GateSummary[];
}

/** What a run has done. */
export interface RunReport {
  readonly feature: string;
  readonly runId: string;
  readonly status: RunState['status'];
  readonly cause: string | null;
  readonly base: string;
  readonly integration: string;
  readonly integrationTip: string;
  readonly settings: Pick<RunState['settings'], 'workers' | 'mode' | 'agent' | 'ownership'>;
  readonly startedAt: string;
  /** Null while it goes on. */
  readonly endedAt: string | null;
  /** How long orchestrators have driven it. */
  readonly workedMs: number;
  readonly tasks: readonly ReportTask[];
  readonly levels: readonly ReportLevel[];
  /** What agents have reported; null when none has. */
  readonly cost: Usage | null;
  readonly warnings: readonly string[];
  readonly timeline: Timeline;
}

type Run = Omit<RunState, 'workers'> & Pick<RunReport, 'endedAt' | 'workedMs'>;

/** Pure. `events`: the whole log of the run, or none where it is damaged. */
export function reportOf(run: Run, events: readonly RecordedEvent[], now: number): RunReport {
  const { feature, runId, status, cause, base, integration, integrationTip, startedAt, endedAt, workedMs, warnings } =
    run;
  const { workers, mode, agent, ownership } = run.settings;
  const until = endedAt === null ? now : Date.parse(endedAt);
  const timeline = timelineOf(events, until);
  return {
    feature,
    runId,
    status,
    cause,
    base,
    integration,
    integrationTip,
    startedAt,
    endedAt,
    warnings,
    timeline,
    settings: { workers, mode, agent, ownership },
    workedMs,
    tasks: Object.entries(run.tasks).map(([id, task]) => taskOf(id, task, until)),
    levels: Object.entries(run.levels).map(([level, { status, gates }]) => ({ level: Number(level), status, gates })),
    cost: Object.values(run.cost).every((count) => count === 0 || count === null) ? null : run.cost,
  };
}

function taskOf(id: string, task: TaskState, until: number): ReportTask {
  const { title, status, level, cause, commit, merged } = task;
  const attempts = task.attempts.map(({ number, worker, outcome, detail, usage, startedAt, endedAt }) => ({
    number,
    worker,
    outcome,
    detail,
    usage,
    ms: Math.max(0, (endedAt === null ? until : Date.parse(endedAt)) - Date.parse(startedAt)),
  }));
  return { id, title, status, level, cause, commit, merged, attempts, attemptCount: attempts.at(-1)?.number ?? 0 };
}

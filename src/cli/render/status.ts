import {
  firstLine,
  inDollars,
  inDuration,
  joined,
  line,
  printable,
  printableBlock,
  printableLines,
} from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { workedMs } from '../../orchestrator/index.ts';
import type { StatusView } from '../../project/index.ts';
import { lastOfPlaces } from '../../protocol/index.ts';
import type { RunState, TaskState, TaskStatus } from '../../state/index.ts';
import type { Colors } from './colors.ts';
import { MARGIN } from './describe.ts';
import { hasAllOf } from './merged.ts';

export const SIGN: Record<TaskStatus, string> = {
  pending: '·',
  running: '▶',
  verifying: '▷',
  complete: '✓',
  failed: '✗',
  blocked: '⊘',
};

/** The status as text: run, tasks by level, workers. */
export function formatStatus(view: StatusView, now: number, colors: Colors): Printable {
  const tasks = Object.values(view.tasks);
  const done = tasks.filter(({ status }) => status === 'complete').length;
  const width = Math.max(...Object.keys(view.tasks).map((id) => id.length));
  const lines = [
    headline(view, now, colors),
    line`  ${done} of ${tasks.length} tasks done · branch ${view.integration} at ${view.integrationTip.slice(0, 10)}${costOf(view)}`,
    ...(view.mergedInto.length === 0 ? [] : [line`  ${hasAllOf(view, view.mergedInto)}`]),
    ...levelLines(view, (id, task) => taskLine(id.padEnd(width), task, now, colors), colors),
    ...workerLines(view, now, colors),
    ...ownerlessLine(view),
    ...view.warnings.map((warning) => colors.yellow(`warning: ${warning}`)),
  ];
  return printableLines(lines);
}

/** All tasks, each as a line of its own, by level. */
export function levelLines(
  { tasks, levels }: Pick<RunState, 'tasks' | 'levels'>,
  lineOf: (id: string, task: TaskState) => Printable,
  colors: Colors,
): Printable[] {
  return Object.entries(levels).flatMap(([level, state]) => {
    const own = Object.entries(tasks).filter(([, task]) => task.level === Number(level));
    return [colors.bold(`Level ${level}: ${levelHead(state)}`), ...own.map(([id, task]) => lineOf(id, task))];
  });
}

/** A level in a few words. */
export function levelHead({ status, gates }: RunState['levels'][string]): string {
  const red = gates.filter((gate) => !gate.ok).map((gate) => gate.name);
  // What is known may be of a part of the level's work, as in the search for a culprit.
  if (status === 'gating' || gates.length === 0) return status;
  if (red.length > 0) return `${status}, gates red: ${red.join(', ')}`;
  return status === 'complete' ? `${status}, gates green` : status;
}

/** The run in a line. */
export function headline(view: StatusView, now: number, colors: Colors): Printable {
  const paint = view.status === 'complete' ? colors.green : view.status === 'running' ? colors.bold : colors.red;
  const end = view.endedAt === null ? now : Date.parse(view.endedAt);
  const who = view.orchestrator === null ? '' : `, process ${view.orchestrator.pid}`;
  const why = view.cause === null ? '' : line` — ${printableBlock(view.cause, MARGIN)}`;
  return line`Feature ${view.feature}: ${paint(view.status)} (${inDuration(workedMs(view, end))}${who}, run ${view.runId})${why}`;
}

function taskLine(id: string, task: TaskState, now: number, colors: Colors): Printable {
  const attempt = task.attempts.at(-1);
  const facts = [
    attempt === undefined ? '' : `attempt ${attempt.number} on worker ${attempt.worker}, ${timeOf(attempt, now)}`,
    task.status === 'complete' ? (task.merged ? 'merged' : 'not merged yet') : (task.cause ?? ''),
  ].filter((fact) => fact !== '');
  const paint = {
    complete: colors.green,
    failed: colors.red,
    blocked: colors.red,
    running: colors.bold,
    verifying: colors.bold,
    pending: colors.dim,
  };
  const shown = facts.length === 0 ? '' : colors.dim(`  (${firstLine(facts.join('; '))})`);
  return line`  ${paint[task.status](`${SIGN[task.status]} ${id}  ${task.status.padEnd(9)}`)} ${task.title}${shown}`;
}

function timeOf(attempt: { startedAt: string; endedAt: string | null }, now: number): string {
  const end = attempt.endedAt === null ? now : Date.parse(attempt.endedAt);
  return inDuration(end - Date.parse(attempt.startedAt));
}

function workerLines(view: StatusView, now: number, colors: Colors): Printable[] {
  const shown = new Set(lastOfPlaces(view.settings, view.workers).values());
  if (shown.size === 0) return [];
  const workers = Object.entries(view.workers).filter(([number]) => shown.has(Number(number)));
  return [
    colors.bold('Workers'),
    ...workers.map(([number, worker]) => {
      const live = isLive(worker);
      const doing = [
        worker.task ?? '',
        worker.phase === 'setup' ? 'set-up' : '',
        live && worker.heartbeatAt !== null ? `heartbeat ${inDuration(now - Date.parse(worker.heartbeatAt))} ago` : '',
        live
          ? (worker.containerId?.slice(0, 12) ?? (worker.pid === null ? '' : `pid ${worker.pid}`))
          : firstLine(worker.cause ?? ''),
      ].filter((part) => part !== '');
      const parts = [...doing.map(printable), ...(worker.trouble === null ? [] : [colors.yellow(worker.trouble)])];
      return line`  ${number}  ${worker.status.padEnd(8)} ${worker.mode}  ${joined(parts, '  ')}`;
    }),
  ];
}

const isLive = ({ status }: { status: string }): boolean => status !== 'STOPPED' && status !== 'CRASHED';

/** Workers without an orchestrator end with their lease; until then a resumed run takes them over. */
function ownerlessLine({ orchestrator, workers, feature }: StatusView): Printable[] {
  const count = Object.values(workers).filter(isLive).length;
  if (orchestrator !== null || count === 0) return [];
  const [who, them, they] =
    count === 1
      ? ['1 worker lives on', 'it', 'it ends by itself']
      : [`${count} workers live on`, 'them', 'they end by themselves'];
  return [
    line`${who}: mahabharatha kurukshetra --feature ${feature} --resume takes ${them} over, else ${they} within the lease`,
  ];
}

function costOf({ cost }: StatusView): string {
  const tokens = cost.inputTokens + cost.cacheReadTokens + cost.cacheWriteTokens + cost.outputTokens;
  return tokens === 0 ? '' : ` · ${inDollars(cost.costUsd)}, ${tokens} tokens`;
}

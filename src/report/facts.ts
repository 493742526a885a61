import { inDollars, inDuration } from '../lib/text/amounts.ts';
import { counted } from '../lib/text/words.ts';
import type { Usage } from '../protocol/index.ts';
import type { ReportTask, RunReport } from './run-report.ts';

/** Pure. The run in a few lines, each with a name. */
export function factsOf(report: RunReport): (readonly [name: string, text: string])[] {
  const { tasks, settings, integration, integrationTip, base, cause } = report;
  const done = tasks.filter(({ status }) => status === 'complete').length;
  return [
    ...(cause === null || report.status === 'complete' ? [] : [['cause', cause] as const]),
    ['tasks', `${done} of ${tasks.length} done`],
    ['attempts', String(tasks.reduce((sum, { attemptCount }) => sum + attemptCount, 0))],
    ['time', timeOf(report)],
    ['cost', costOf(report.cost)],
    ['branch', `${integration} at ${short(integrationTip)}, from ${short(base)}`],
    ['workers', `${counted(settings.workers, 'worker')}, ${settings.mode}, agent ${settings.agent}`],
    ['run', report.runId],
  ];
}

function timeOf({ workedMs, startedAt, endedAt }: RunReport): string {
  return `${inDuration(workedMs)}, ${minute(startedAt)} to ${endedAt === null ? 'now' : minute(endedAt)} UTC`;
}

const minute = (at: string): string => at.slice(0, 16).replace('T', ' ');
export const short = (commit: string): string => commit.slice(0, 10);

/** Agents that are not Claude Code, and commands, report none. */
export function costOf(cost: Usage | null): string {
  if (cost === null) return 'none reported';
  const tokensIn = cost.inputTokens + cost.cacheReadTokens + cost.cacheWriteTokens;
  return `${inDollars(cost.costUsd)} (${tokensIn} tokens in, ${cost.outputTokens} out)`;
}

export function standingOf({ status, merged }: ReportTask): string {
  return status === 'complete' ? (merged ? 'merged' : 'done') : status;
}

/** Of all its attempts that are known. */
export function timeOfTask({ attempts }: ReportTask): string {
  return attempts.length === 0 ? '' : inDuration(attempts.reduce((sum, { ms }) => sum + ms, 0));
}

export const isTroubled = ({ status }: ReportTask): boolean => status === 'failed' || status === 'blocked';

import type { RunState } from '../../state/index.ts';
import type { Refusals } from '../refusals.ts';

/** So many refused targets are named. */
const NAMED = 4;

/** The last word of a run: what is done, what is not and why, where it is, and what to do next. */
export function formatSummary(state: RunState, refusals: Refusals | undefined): string {
  const tasks = Object.entries(state.tasks);
  const done = tasks.filter(([, task]) => task.status === 'complete').length;
  const troubled = tasks.filter(([, task]) => task.status === 'failed' || task.status === 'blocked');
  const lines = [
    `Feature ${state.feature}: ${state.status}${state.cause === null ? '' : ` — ${state.cause}`}`,
    `  tasks    ${done} of ${tasks.length} done`,
    ...troubled.map(([id, task]) => `           ${id} is ${task.status}: ${(task.cause ?? '').split('\n')[0]}`),
    `  branch   ${state.integration} at ${state.integrationTip.slice(0, 10)}`,
    ...costLine(state),
    ...networkLine(state, refusals),
    ...state.warnings.map((warning) => `  warning  ${warning}`),
    ...nextSteps(state).map((step, index) => `${index === 0 ? '  next     ' : '           '}${step}`),
  ];
  return `${lines.join('\n')}\n`;
}

function costLine({ cost }: RunState): string[] {
  const tokens = cost.inputTokens + cost.cacheReadTokens + cost.cacheWriteTokens;
  if (tokens + cost.outputTokens === 0) return [];
  return [`  cost     $${cost.costUsd.toFixed(2)} (${tokens} tokens in, ${cost.outputTokens} out)`];
}

function networkLine({ feature }: RunState, refusals: Refusals | undefined): string[] {
  if (refusals === undefined || refusals.total === 0) return [];
  const { total, targets, unlisted } = refusals;
  const named = targets.slice(0, NAMED);
  const rest = targets.slice(NAMED).reduce((sum, { count }) => sum + count, unlisted);
  const parts = [
    ...named.map(({ target, count }) => `${target} (${count})`),
    ...(rest > 0 ? [`others (${rest})`] : []),
  ];
  const what = total === 1 ? '1 request was refused' : `${total} requests were refused`;
  return [`  network  ${what}: ${parts.join(', ')} — see: mahabharatha logs --feature ${feature}`];
}

function nextSteps({ feature, status, tasks, resumeAt }: RunState): string[] {
  const resume = `mahabharatha kurukshetra --feature ${feature} --resume`;
  switch (status) {
    case 'complete':
      return [`mahabharatha merge --feature ${feature}`];
    case 'paused':
      return [`${resume}${resumeAt === null ? '' : `   (not before ${resumeAt})`}`];
    case 'failed': {
      const failed = Object.keys(tasks).find((id) => tasks[id]?.status === 'failed');
      if (failed === undefined) return [resume];
      return [
        `mahabharatha logs --feature ${feature} --task ${failed}`,
        `mahabharatha retry ${failed} --feature ${feature}   then: ${resume}`,
      ];
    }
    case 'stopped':
    case 'running':
      return [resume];
  }
}

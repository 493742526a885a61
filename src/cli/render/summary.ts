import { counted, firstLine, inDollars, printable, printableBlock, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { hasWork } from '../../orchestrator/index.ts';
import type { Usage } from '../../protocol/index.ts';
import type { Caps, RunState } from '../../state/index.ts';
import type { NetworkTally, Tally } from '../../project/index.ts';
import { MARGIN } from './describe.ts';

/** At most so many targets are named. */
const NAMED = 4;
/** For lines below a row, as wide as its label. */
const INDENT = ' '.repeat(11);

/** The end of a run in words: what is done, what is not and why, where it is, what to do next. */
export function formatSummary(state: RunState, network: NetworkTally | undefined): Printable {
  const tasks = Object.entries(state.tasks);
  const done = tasks.filter(([, task]) => task.status === 'complete').length;
  const troubled = tasks.filter(([, task]) => task.status === 'failed' || task.status === 'blocked');
  const waiting = tasks.filter(([, { attempts }]) => attempts.some(hasWork));
  const head = `Feature ${state.feature}: ${state.status}${state.cause === null ? '' : ` — ${state.cause}`}`;
  const lines = [
    `  tasks    ${done} of ${tasks.length} done`,
    ...troubled.map(([id, task]) => `${INDENT}${id} is ${task.status}: ${firstLine(task.cause ?? '')}`),
    ...waiting.map(([id]) => `${INDENT}${id} waits for its verification: its work is done, and is not done again`),
    `  branch   ${state.integration} at ${state.integrationTip.slice(0, 10)}`,
    ...costLine(state),
    ...networkLines(state, network),
    ...state.warnings.map((warning) => `  warning  ${warning}`),
    ...nextSteps(state).map((step, index) => `${index === 0 ? '  next     ' : INDENT}${step}`),
  ];
  return printableLines([printableBlock(head, MARGIN), ...lines.map(printable)]);
}

function costLine({ cost }: RunState): string[] {
  const tokensIn = cost.inputTokens + cost.cacheReadTokens + cost.cacheWriteTokens;
  if (tokensIn + cost.outputTokens === 0) return [];
  return [`  cost     ${inDollars(cost.costUsd)} (${tokensIn} tokens in, ${cost.outputTokens} out)`];
}

/** Refusals can be cured in the user's allowlist, unreached targets in the network. */
function networkLines({ feature }: RunState, network: NetworkTally | undefined): string[] {
  if (network === undefined) return [];
  const rows = [
    ...tallyRow(network.refused, ['request was refused', 'requests were refused']),
    ...tallyRow(network.unreached, [
      'request is allowed, but its target could not be reached',
      'requests are allowed, but their target could not be reached',
    ]),
  ];
  const see = ` — see: mahabharatha logs --feature ${feature}`;
  return rows.map((row, index) => `${index === 0 ? '  network  ' : INDENT}${row}${row === rows.at(-1) ? see : ''}`);
}

function tallyRow({ total, targets, unlisted }: Tally, [one, many]: readonly [string, string]): string[] {
  if (total === 0) return [];
  const named = targets.slice(0, NAMED);
  const rest = targets.slice(NAMED).reduce((sum, { count }) => sum + count, unlisted);
  const parts = [
    ...named.map(({ target, count }) => `${target} (${count})`),
    ...(rest > 0 ? [`others (${rest})`] : []),
  ];
  return [`${counted(total, one, many)}: ${parts.join(', ')}`];
}

function nextSteps({ feature, status, tasks, resumeAt, cost, settings }: RunState): string[] {
  const resume = `mahabharatha kurukshetra --feature ${feature} --resume`;
  switch (status) {
    case 'complete':
      return [`mahabharatha merge --feature ${feature}`];
    case 'paused':
      return [
        `${resume}${raised('--max-cost', settings.caps.run, cost)}${resumeAt === null ? '' : `   (not before ${resumeAt})`}`,
      ];
    case 'failed': {
      const failed = Object.keys(tasks).find((id) => tasks[id]?.status === 'failed');
      if (failed === undefined) return [resume];
      return [
        `mahabharatha logs --feature ${feature} --task ${failed}`,
        `mahabharatha retry ${failed} --feature ${feature}   then: ${resume}${raised('--max-task-cost', settings.caps.task, tasks[failed]?.cost ?? cost)}`,
      ];
    }
    case 'stopped':
    case 'running':
      return [resume];
  }
}

/** With a cap that is reached already nothing would go on. */
function raised(option: string, cap: Caps['run'], { costUsd }: Usage): string {
  const cost = costUsd ?? 0;
  return cap === null || cost < cap.usd ? '' : ` ${option} ${Math.ceil(cost * 2)}`;
}

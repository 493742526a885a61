import {
  counted,
  firstLine,
  inDuration,
  line,
  printable,
  printableBlock,
  printableLines,
  printableOutput,
} from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { hasWork, workedMs } from '../../orchestrator/index.ts';
import type { Usage } from '../../protocol/index.ts';
import { needsRetry } from '../../project/index.ts';
import type { EndOfRun, NetworkTally, Tally } from '../../project/index.ts';
import type { Caps, RunState, TaskState } from '../../state/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import { costInWords } from './costs.ts';
import { MARGIN } from './describe.ts';

/** At most so many targets are named. */
const NAMED = 4;
/** For lines below a row, as wide as its label. */
const INDENT = ' '.repeat(11);
/** Of so many failed tasks the last output is shown; `logs` has the rest. */
const SHOWN_FAILURES = 3;
const LAST_LINES = 6;
/** At most so many failed and so many blocked tasks are named; `status` has all. */
const NAMED_TASKS = 10;

/** The end of a run in words: what is done, what is not and why, where it is, what it took, what to do next. */
export function formatSummary({ state, network }: EndOfRun, graph: TaskGraph): Printable {
  const tasks = Object.entries(state.tasks);
  const done = tasks.filter(([, task]) => task.status === 'complete').length;
  const attempts = tasks.reduce((sum, [, task]) => sum + (task.attempts.at(-1)?.number ?? 0), 0);
  const waiting = tasks.filter(([, task]) => task.attempts.some(hasWork));
  const head = `Feature ${state.feature}: ${state.status}${state.cause === null ? '' : ` — ${state.cause}`}`;
  const cost = costInWords(state, graph);
  const lines = [
    `  tasks    ${done} of ${tasks.length} done, in ${counted(attempts, 'attempt')}`,
    ...troubleLines(tasks),
    ...waiting.map(([id]) => `${INDENT}${id} waits for its verification: its work is done, and is not done again`),
    `  time     ${inDuration(workedMs(state, Date.parse(state.updatedAt)))}`,
    ...(cost === undefined ? [] : [`  cost     ${cost}`]),
    `  branch   ${state.integration} at ${state.integrationTip.slice(0, 10)}`,
    ...networkLines(state, network),
    ...state.warnings.map((warning) => `  warning  ${warning}`),
    ...nextSteps(state).map((step, index) => `${index === 0 ? '  next     ' : INDENT}${step}`),
  ];
  const rows = lines.map((one) => (typeof one === 'string' ? printable(one) : one));
  return printableLines([printableBlock(head.trimEnd(), MARGIN), ...rows]);
}

/** Failed tasks with the end of what was printed, and blocked ones. */
function troubleLines(tasks: readonly (readonly [string, TaskState])[]): (string | Printable)[] {
  return (['failed', 'blocked'] as const).flatMap((wanted) => {
    const found = tasks.filter(([, { status }]) => status === wanted);
    const more = found.length - NAMED_TASKS;
    return [
      ...found.slice(0, NAMED_TASKS).flatMap(([id, task], index) => {
        const last = wanted === 'failed' && index < SHOWN_FAILURES ? lastLinesOf(task) : [];
        return [`${INDENT}${id} is ${wanted}: ${firstLine(task.cause ?? '')}`, ...last];
      }),
      ...(more > 0 ? [`${INDENT}and ${more} more ${more === 1 ? 'is' : 'are'} ${wanted}`] : []),
    ];
  });
}

/** Without what the cause ends with, and blank lines. */
function lastLinesOf({ feedback, cause }: TaskState): Printable[] {
  const lines = (feedback ?? '').split('\n').filter((one) => !(cause ?? '').endsWith(one.trim()));
  return lines.slice(-LAST_LINES).map((one) => line`${MARGIN}${printableOutput(one)}`);
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

function nextSteps(state: RunState): string[] {
  const { feature, status, tasks, resumeAt, cost, settings } = state;
  const resume = `mahabharatha kurukshetra --feature ${feature} --resume`;
  if (status === 'complete') return [`mahabharatha merge --feature ${feature}`];
  const failed = Object.keys(tasks).find((id) => tasks[id]?.status === 'failed');
  const runCap = raised('--max-cost', settings.caps.run, cost);
  if (failed !== undefined && needsRetry(state)) {
    const taskCap = raised('--max-task-cost', settings.caps.task, tasks[failed]?.cost ?? cost);
    return [
      `mahabharatha logs --feature ${feature} --task ${failed}`,
      `mahabharatha retry ${failed} --feature ${feature}`,
      `then: ${resume}${runCap}${taskCap}`,
    ];
  }
  return [`${resume}${runCap}${resumeAt === null ? '' : `   (not before ${resumeAt})`}`];
}

/** With a cap that is reached already nothing would go on. */
function raised(option: string, cap: Caps['run'], { costUsd }: Usage): string {
  const cost = costUsd ?? 0;
  return cap === null || cost < cap.usd ? '' : ` ${option} ${Math.ceil(cost * 2)}`;
}

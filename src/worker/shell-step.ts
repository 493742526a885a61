import { createLineSplitter, createTail, inSeconds } from '../lib/index.ts';
import type { LogSource } from '../protocol/index.ts';
import { supervise } from '../supervise/index.ts';
import type { Supervised } from '../supervise/index.ts';
import type { WorkerContext } from './context.ts';
import { limitsInWords } from './limits-in-words.ts';
import type { WorkerLog } from './log.ts';

/** How much of the end of an output goes into feedback, gate reports and set-up failures. */
const OUTPUT_TAIL = 8000;

interface ShellStep {
  readonly source: LogSource;
  readonly command: string;
  readonly timeoutMs: number;
  readonly log: WorkerLog;
}

interface ShellResult {
  readonly ok: boolean;
  readonly stopped: boolean;
  /** One line: how it ended. */
  readonly detail: string;
  /** The end of what it printed. */
  readonly output: string;
  readonly durationMs: number;
}

/** Runs a command of the user in the worktree, with bash: a set-up, a verification or a gate. */
export async function runShell(context: WorkerContext, step: ShellStep): Promise<ShellResult> {
  const tail = createTail(2 * OUTPUT_TAIL);
  const lines = createLineSplitter((line) => step.log.line(step.source, line));
  const take = (text: string): void => {
    tail.push(text);
    lines.push(text);
  };
  const end = await supervise('bash', ['-c', step.command], {
    cwd: context.workspace.folder,
    env: context.env,
    onStdout: take,
    onStderr: take,
    totalMs: step.timeoutMs,
    graceMs: context.boot.stopGraceMs,
    stop: context.stop,
  });
  lines.end();
  step.log.sumUp();
  return {
    ok: end.endedBy === 'itself' && end.code === 0,
    stopped: end.endedBy === 'stopped',
    detail: [howItEnded(end, step.timeoutMs), limitsInWords(end.exceeded)]
      .filter((text) => text !== undefined)
      .join('; '),
    output: lastOf(context.redact(tail.text())),
    durationMs: end.durationMs,
  };
}

/** Of a text without secrets: of one that is cut in its middle, nothing would know the rest. */
const lastOf = (text: string): string => (text.length > OUTPUT_TAIL ? `…${text.slice(-OUTPUT_TAIL)}` : text);

function howItEnded(end: Supervised, limitMs: number): string {
  if (end.endedBy === 'total') return `still running after ${inSeconds(limitMs)}, limit ${inSeconds(limitMs)}`;
  return end.code === null ? `ended by ${end.signal}` : `exit status ${end.code}`;
}

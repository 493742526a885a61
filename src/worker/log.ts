import type { LogLine, LogSource } from '../protocol/index.ts';
import { cutLine, inBytes } from '../lib/index.ts';

/** What one attempt (or one set-up) may print. The feedback always has the end of the output. */
const LOG_LIMIT = 16 * 1024 * 1024;
/**
 * What may wait in memory until stdout is read. Beyond it lines are left out: if the job waited instead, a slow reader of
 * the log would slow its work.
 */
const WAITING_LIMIT = 16 * 1024 * 1024;

/** Prints JSON lines; the launcher keeps them. */
export interface WorkerLog {
  /** Lines of the worker itself are always printed; lines of jobs have limits. */
  line(source: LogSource, text: string): void;
  /** The same log for one attempt: with the task and the attempt on every line, and a limit of its own. */
  about(task: string, attempt: string): WorkerLog;
  /** At the end of a job: says how much of its output was left out, if any. */
  sumUp(): void;
}

type About = Pick<LogLine, 'task' | 'attempt'>;

/** `waiting` returns how much printed text is not read yet. */
export function createLog(
  worker: number,
  write: (text: string) => void,
  about: About = {},
  waiting: () => number = () => process.stdout.writableLength,
): WorkerLog {
  const limits = createLimits(waiting);
  const print = (source: LogSource, text: string): number => {
    const line: LogLine = { at: new Date().toISOString(), worker, ...about, source, text };
    const json = `${JSON.stringify(line)}\n`;
    write(json);
    return json.length;
  };
  const sumUp = (): void => {
    const leftOut = limits.sum();
    if (leftOut !== undefined) print('worker', leftOut);
  };
  return {
    line: (source, text) => {
      if (source === 'worker') return void print(source, cutLine(text));
      const over = limits.over();
      if (over === undefined) {
        sumUp();
        return limits.printed(print(source, cutLine(text)));
      }
      if (limits.leaveOut(text, over)) print('worker', `from here on lines are left out: ${over}`);
    },
    about: (task, attempt) => createLog(worker, write, { task, attempt }, waiting),
    sumUp: () => {
      sumUp();
      // Outside of attempts there are only set-ups: each has a new limit.
      if (about.attempt === undefined) limits.renew();
    },
  };
}

function createLimits(waiting: () => number) {
  let length = 0;
  let held = false;
  let lines = 0;
  let bytes = 0;
  let cause = '';
  return {
    /** Why nothing more may be printed now. */
    over: (): string | undefined => {
      if (length >= LOG_LIMIT) return `an attempt may print ${inBytes(LOG_LIMIT)}`;
      // Above the limit, lines are left out until half of it is read: otherwise every second line would be about lines.
      held = waiting() > (held ? WAITING_LIMIT / 2 : WAITING_LIMIT);
      return held ? 'they come faster than they are read' : undefined;
    },
    printed: (more: number): void => {
      length += more;
    },
    /** True for the first of several lines. */
    leaveOut: (text: string, why: string): boolean => {
      lines += 1;
      bytes += text.length + 1;
      cause = why;
      return lines === 1;
    },
    /** What was left out since the last call, in words. */
    sum: (): string | undefined => {
      if (lines === 0) return undefined;
      const sum = `${lines.toLocaleString('en-US')} lines (${inBytes(bytes)}) were left out: ${cause}`;
      [lines, bytes] = [0, 0];
      return sum;
    },
    renew: (): void => {
      length = 0;
    },
  };
}

import { cutLine } from '../logs/index.ts';
import type { LogLine, LogSource } from '../protocol/index.ts';

/** Prints JSON lines; whoever started the worker keeps them. */
export interface WorkerLog {
  line(source: LogSource, text: string): void;
  /** The same log, with the task and attempt written on every line. */
  about(task: string, attempt: string): WorkerLog;
}

export function createLog(worker: number, write: (text: string) => void, about: Partial<LogLine> = {}): WorkerLog {
  return {
    line: (source, text) => {
      const line: LogLine = { at: new Date().toISOString(), worker, ...about, source, text: cutLine(text) };
      write(`${JSON.stringify(line)}\n`);
    },
    about: (task, attempt) => createLog(worker, write, { task, attempt }),
  };
}

import { readUntrusted, readJson } from '../lib/index.ts';
import { lastLines } from '../logs/index.ts';
import { isLive, openAttempt, SETTING_UP } from '../orchestrator/index.ts';
import { readLogLine, STATUS_LIMIT, workerStatus } from '../protocol/index.ts';
import type { LogLine, Usage, WorkerStatus } from '../protocol/index.ts';
import type { RunState, StateStore, WorkerState } from '../state/index.ts';

/** What a worker does at this moment, in its own words: they are shown, and decide nothing. */
export interface WorkNow {
  /** The last line of what it runs; null before the first one. */
  readonly says: string | null;
  /** Of the attempt at work; null when its agent does not say. */
  readonly usage: Usage | null;
}

export type WorkByWorker = ReadonlyMap<number, WorkNow>;

/** Looks at the logs and reports of all workers that are at work. */
export async function lookAtWork({ paths }: Pick<StateStore, 'paths'>, state: RunState): Promise<WorkByWorker> {
  const live = Object.entries(state.workers).filter(([, worker]) => isLive(worker));
  const looks = live.map(async ([key, worker]) => {
    const files = paths.worker(Number(key));
    const work = openAttempt(state, Number(key))?.name ?? worker.task;
    const isVerified = state.tasks[worker.task ?? '']?.status === 'verifying';
    const [line, status] = await Promise.all([lastLine(files.log), readStatus(files.status)]);
    const own = status?.session === worker.session && status.attempt === work;
    const says = line !== undefined && isAbout(line, worker, { work, isVerified }) ? line.text : null;
    return [Number(key), { says, usage: own ? status.usage : null }] as const;
  });
  return new Map(await Promise.all(looks));
}

async function lastLine(file: string): Promise<LogLine | undefined> {
  const { lines } = await lastLines(file, 1, () => true).catch(() => ({ lines: [] }));
  return readLogLine(lines[0] ?? '');
}

interface Work {
  /** The attempt, gate run or verification that the worker has. */
  readonly work: string | null;
  readonly isVerified: boolean;
}

/** Whether the line is of what is done now. Lines of the worker itself say what is known already. */
function isAbout({ source, attempt }: LogLine, { cause }: WorkerState, { work, isVerified }: Work): boolean {
  if (source === 'setup') return cause === SETTING_UP;
  if (source === 'worker' || (isVerified && source !== 'verify')) return false;
  return attempt === work;
}

/** What a worker reports; undefined when that cannot be read. */
export async function readStatus(file: string): Promise<WorkerStatus | undefined> {
  return readJson(workerStatus, await readUntrusted(file, STATUS_LIMIT).catch(() => undefined));
}

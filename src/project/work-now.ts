import { readUntrusted, readJson } from '../lib/index.ts';
import { lastLines } from '../logs/index.ts';
import { isLive, openAttempt, SETTING_UP } from '../orchestrator/index.ts';
import { readLogLine, STATUS_LIMIT, workerStatus } from '../protocol/index.ts';
import type { LogLine, Usage, WorkerStatus } from '../protocol/index.ts';
import type { RunState, StateStore, WorkerState } from '../state/index.ts';

/** What a worker does at this moment, in its own words: they are shown, and decide nothing. */
export interface WorkNow {
  /** The attempt, gate run or verification that this is about; a moment later the worker may have another one. */
  readonly work: string | null;
  /** The last lines of what it runs, oldest first. */
  readonly says: readonly string[];
  /** Of the attempt at work; null when its agent does not say. */
  readonly usage: Usage | null;
}

export type WorkByWorker = ReadonlyMap<number, WorkNow>;

/** As many as a view shows of a worker, and some that are left out. */
const LAST_LINES = 10;

/** Looks at the logs and reports of all workers that are at work. */
export async function lookAtWork({ paths }: Pick<StateStore, 'paths'>, state: RunState): Promise<WorkByWorker> {
  const live = Object.entries(state.workers).filter(([, worker]) => isLive(worker));
  const looks = live.map(async ([key, worker]) => {
    const files = paths.worker(Number(key));
    const work = workOf(state, Number(key));
    const isVerified = state.tasks[worker.task ?? '']?.status === 'verifying';
    const [lines, status] = await Promise.all([logEnd(files.log), readStatus(files.status)]);
    const own = status?.session === worker.session && status.attempt === work;
    const about = lines.filter((line) => line.text.trim() !== '' && isAbout(line, worker, { work, isVerified }));
    return [Number(key), { work, says: about.map(({ text }) => text), usage: own ? status.usage : null }] as const;
  });
  return new Map(await Promise.all(looks));
}

/** What is known of a worker's present work: what was seen of an earlier one says nothing about it. */
export function present(state: RunState, seen: WorkByWorker): WorkByWorker {
  return new Map([...seen].filter(([worker, { work }]) => work === workOf(state, worker)));
}

const workOf = (state: RunState, worker: number): string | null =>
  openAttempt(state, worker)?.name ?? state.workers[worker]?.task ?? null;

async function logEnd(file: string): Promise<LogLine[]> {
  const { lines } = await lastLines(file, LAST_LINES, () => true).catch(() => ({ lines: [] }));
  return lines.flatMap((line) => readLogLine(line) ?? []);
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

import { readUntrusted, readJson } from '../lib/index.ts';
import { lastLines } from '../logs/index.ts';
import { isLive, openAttempt, SETTING_UP } from '../orchestrator/index.ts';
import { readLogLine, STATUS_LIMIT, workerStatus } from '../protocol/index.ts';
import type { Usage, WorkerStatus } from '../protocol/index.ts';
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
    const [says, status] = await Promise.all([lastWords(files.log, worker, work), readStatus(files.status)]);
    const own = status?.session === worker.session && status.attempt === work;
    return [Number(key), { says, usage: own ? status.usage : null }] as const;
  });
  return new Map(await Promise.all(looks));
}

/** The worker's own lines say what is known already: the phase of its work. */
async function lastWords(file: string, { cause }: WorkerState, work: string | null): Promise<string | null> {
  const { lines } = await lastLines(file, 1, () => true).catch(() => ({ lines: [] }));
  const line = readLogLine(lines[0] ?? '');
  if (line === undefined || line.source === 'worker') return null;
  const isOfSetup = line.source === 'setup' && cause === SETTING_UP;
  return isOfSetup || line.attempt === work ? line.text : null;
}

/** What a worker reports; undefined when that cannot be read. */
export async function readStatus(file: string): Promise<WorkerStatus | undefined> {
  return readJson(workerStatus, await readUntrusted(file, STATUS_LIMIT).catch(() => undefined));
}

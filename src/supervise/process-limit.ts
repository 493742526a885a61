import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What the container's own control group tells of its processes; what is undefined is not known. */
export interface ProcessRecord {
  /** How often a process or thread could not be started because there were too many. */
  readonly refusals: number | undefined;
  readonly limit: number | undefined;
}

export function readProcessRecord(root = '/sys/fs/cgroup'): ProcessRecord {
  const read = (file: string): string => textOf(path.join(root, file)) ?? textOf(path.join(root, 'pids', file)) ?? '';
  const refusals = /^max (\d+)$/m.exec(read('pids.events'))?.[1];
  const limit = /^\d+$/.exec(read('pids.max').trim())?.[0];
  return {
    refusals: refusals === undefined ? undefined : Number(refusals),
    limit: limit === undefined ? undefined : Number(limit),
  };
}

/** What there is to say of a job's processes; undefined when there were never too many. */
export function processTrouble(before: ProcessRecord, after: ProcessRecord): string | undefined {
  if (before.refusals === undefined || after.refusals === undefined || after.refusals <= before.refusals)
    return undefined;
  const limit = after.limit === undefined ? '' : ` of ${after.limit}`;
  return `processes could not be started: the worker's limit${limit} (workers.container.pids) was reached`;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

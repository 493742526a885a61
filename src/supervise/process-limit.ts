import path from 'node:path';
import { readSystemFile } from '../lib/index.ts';
import type { Exceeded } from './exceeded.ts';

/** The processes of the container, as its control group shows them; an unknown number is undefined. */
export interface ProcessRecord {
  /** How often a process or thread could not be started because there were too many. */
  readonly refusals: number | undefined;
  readonly limit: number | undefined;
}

export function readProcessRecord(root = '/sys/fs/cgroup'): ProcessRecord {
  const read = (file: string): string =>
    readSystemFile(path.join(root, file)) || readSystemFile(path.join(root, 'pids', file));
  const refusals = /^max (\d+)$/m.exec(read('pids.events'))?.[1];
  const limit = /^\d+$/.exec(read('pids.max').trim())?.[0];
  return {
    refusals: refusals === undefined ? undefined : Number(refusals),
    limit: limit === undefined ? undefined : Number(limit),
  };
}

/** Pure. Undefined when the job has never reached the limit. */
export function processesExceeded(before: ProcessRecord, after: ProcessRecord): Exceeded | undefined {
  if (before.refusals === undefined || after.refusals === undefined || after.refusals <= before.refusals)
    return undefined;
  return { limit: 'processes', most: after.limit };
}

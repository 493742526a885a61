import path from 'node:path';
import type { Exceeded } from './exceeded.ts';
import { readSystemFile } from './system-file.ts';

/** What the container's own control group tells of its memory; what is undefined is not known. */
export interface MemoryRecord {
  /** How many processes the kernel has killed because the memory was used up. */
  readonly kills: number | undefined;
  /** How often the limit was met; most often nothing had to be killed for it. */
  readonly limitHits: number | undefined;
  readonly limitBytes: number | undefined;
}

/** Larger than any machine: how the older control groups say that there is no limit. */
const NO_LIMIT = 2 ** 60;

export function readOomKills(root = '/sys/fs/cgroup'): MemoryRecord {
  const read = (file: string): string => readSystemFile(path.join(root, file));
  const events = read('memory.events');
  const control = read('memory/memory.oom_control');
  const limit = numberIn(read('memory.max')) ?? numberIn(read('memory/memory.limit_in_bytes'));
  return {
    kills: fieldOf(events, 'oom_kill') ?? fieldOf(control, 'oom_kill'),
    limitHits: fieldOf(events, 'max') ?? numberIn(read('memory/memory.failcnt')),
    limitBytes: limit === undefined || limit >= NO_LIMIT ? undefined : limit,
  };
}

/** Pure. Undefined when a job's use of memory did no harm. */
export function memoryExceeded(before: MemoryRecord, after: MemoryRecord, wasKilled: boolean): Exceeded | undefined {
  const certain = before.kills !== undefined && after.kills !== undefined;
  const neverFull = after.limitHits !== undefined && after.limitHits === before.limitHits;
  const met = certain ? after.kills > before.kills : wasKilled && !neverFull;
  return met ? { limit: 'memory', bytes: after.limitBytes, certain } : undefined;
}

/** Raises its own score, which its children inherit, and then becomes the program that it is given. */
const EXPENDABLE = '{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; exec "$0" "$@"';

/**
 * A command that the kernel kills before this process when memory runs out, and so all that it starts: among all in the
 * container the kernel takes what has the highest score, and only then the largest. The command raises its score itself:
 * this process may not be able to, since its files in /proc are closed to its own user (docker/worker/prepare.sh).
 */
export function expendable(file: string, args: readonly string[]): { file: string; args: readonly string[] } {
  return { file: '/bin/sh', args: ['-c', EXPENDABLE, file, ...args] };
}

function fieldOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((line) => line.startsWith(`${name} `));
  return line === undefined ? undefined : numberIn(line.slice(name.length));
}

function numberIn(text: string): number | undefined {
  return /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
}

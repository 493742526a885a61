import path from 'node:path';
import { readSystemFile } from '../lib/index.ts';
import type { Exceeded } from './exceeded.ts';

/** The memory of the container, as its control group shows it; an unknown number is undefined. */
export interface MemoryRecord {
  /** How many processes the kernel has killed because the memory was used up. */
  readonly kills: number | undefined;
  /** How often the limit was reached; most often without killing a process. */
  readonly limitHits: number | undefined;
  readonly limitBytes: number | undefined;
}

/** Older control groups show a number larger than any machine when there is no limit. */
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

/** Pure. Undefined when the job was not killed for its memory. */
export function memoryExceeded(before: MemoryRecord, after: MemoryRecord, wasKilled: boolean): Exceeded | undefined {
  const certain = before.kills !== undefined && after.kills !== undefined;
  const neverFull = after.limitHits !== undefined && after.limitHits === before.limitHits;
  const met = certain ? after.kills > before.kills : wasKilled && !neverFull;
  return met ? { limit: 'memory', bytes: after.limitBytes, certain } : undefined;
}

/** Raises its own score, which its children inherit, and then runs the given program in its place. */
const EXPENDABLE = '{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; exec "$0" "$@"';

/**
 * The same command, made so that the kernel kills it, or what it starts, before this process when memory runs out: the
 * kernel kills the process with the highest score. The command raises its own score, because this process may not write
 * to /proc: its files there are closed to its own user (docker/worker/prepare.sh).
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

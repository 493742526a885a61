import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inBytes } from '../lib/index.ts';

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
  const read = (file: string): string => textOf(path.join(root, file));
  const events = read('memory.events');
  const control = read('memory/memory.oom_control');
  const limit = numberIn(read('memory.max')) ?? numberIn(read('memory/memory.limit_in_bytes'));
  return {
    kills: fieldOf(events, 'oom_kill') ?? fieldOf(control, 'oom_kill'),
    limitHits: fieldOf(events, 'max') ?? numberIn(read('memory/memory.failcnt')),
    limitBytes: limit === undefined || limit >= NO_LIMIT ? undefined : limit,
  };
}

/** What there is to say of a job's use of memory; undefined when it did no harm. */
export function memoryTrouble(before: MemoryRecord, after: MemoryRecord, wasKilled: boolean): string | undefined {
  const memory = after.limitBytes === undefined ? 'memory' : `memory of ${inBytes(after.limitBytes)}`;
  if (before.kills !== undefined && after.kills !== undefined) {
    return after.kills > before.kills ? `a process was killed: the worker's ${memory} was used up` : undefined;
  }
  const neverFull = after.limitHits !== undefined && after.limitHits === before.limitHits;
  return wasKilled && !neverFull ? `it was killed: perhaps the worker's ${memory} was used up` : undefined;
}

/** Among all in the container the kernel takes what has the highest score, and only then the largest. */
const SCORE_FILE = '/proc/self/oom_score_adj';
const FIRST_TO_GO = '1000';

/**
 * Starts something that the kernel kills before this process when memory runs out, and so all that it will start. Nobody
 * may lower a score below what it was given by the system, but everybody may raise his own and take that back: so it is
 * inherited, and there is no moment in which the child could start others without it.
 */
export function startExpendable<Started>(start: () => Started): Started {
  const own = textOf(SCORE_FILE).trim();
  setScore(FIRST_TO_GO);
  try {
    return start();
  } finally {
    if (own !== '') setScore(own);
  }
}

function setScore(score: string): void {
  try {
    writeFileSync(SCORE_FILE, score);
  } catch {
    // Without it the kernel takes the largest, which most often is the right one.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function fieldOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((line) => line.startsWith(`${name} `));
  return line === undefined ? undefined : numberIn(line.slice(name.length));
}

function numberIn(text: string): number | undefined {
  return /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
}

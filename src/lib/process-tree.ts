import { readFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { kill, run } from './process.ts';
import { sleep } from './clock.ts';
import { isPassing, repeated } from './transient.ts';

const LINUX = process.platform === 'linux';

/**
 * What tells this process from a later one with the same pid: when it started.
 * Undefined when there is no such process, or only its zombie.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  return LINUX ? repeated(() => linuxStart(pid)) : psStart(pid);
}

/** A process, named so that a reused pid is not mistaken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

export async function ownIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, started: (await processStart(process.pid)) ?? 'unknown' };
}

export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await processStart(identity.pid)) === identity.started;
}

/**
 * All processes that carry `name=value` in the environment they were started with. Children inherit it, so it finds
 * a whole tree, also what has left its session and lost its parents.
 */
export async function findByEnvironment(name: string, value: string): Promise<number[]> {
  const wanted = `${name}=${value}`;
  const found = LINUX ? await repeated(async () => linuxEnvironments(wanted)) : await psEnvironments(wanted);
  return found.filter((pid) => pid !== process.pid);
}

/** Kills everything that carries the mark, and what it starts meanwhile. Returns how many were killed. */
export async function killByEnvironment(name: string, value: string): Promise<number> {
  const killed = new Map<number, string | undefined>();
  for (let round = 0; round < 20; round++) {
    const found = await findByEnvironment(name, value);
    for (const pid of found) {
      const started = await processStart(pid);
      if (kill(pid, 'SIGKILL')) killed.set(pid, started);
    }
    if (found.length === 0 && (await areGone(killed))) break;
    await sleep(5 * (round + 1));
  }
  return killed.size;
}

/** A process that is being ended has no environment any more for a moment before it is gone. */
async function areGone(processes: ReadonlyMap<number, string | undefined>): Promise<boolean> {
  const now = await Promise.all(
    [...processes].map(async ([pid, started]) => started === undefined || (await processStart(pid)) !== started),
  );
  return now.every(Boolean);
}

let bootId: string | undefined;

async function linuxStart(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may hold anything, so the fields are counted from the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    bootId ??= (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8);
    return `${bootId}:${fields[19]}`;
  } catch (error) {
    // To take a process for dead because there is no descriptor left to look at it would end its work.
    if (isPassing(error)) throw error;
    return undefined;
  }
}

function linuxEnvironments(wanted: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => environEntries(pid).includes(wanted));
}

/** The environment a process was started with; empty when it is gone, not ours, or the system does not tell. */
export async function environmentOf(pid: number): Promise<Readonly<Record<string, string>>> {
  const entries = LINUX
    ? environEntries(pid)
    : (await ps(['-E', '-ww', '-o', 'command=', '-p', String(pid)])).split(' ');
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = ''] = entry.split('=', 1);
      return [name, entry.slice(name.length + 1).trimEnd()];
    }),
  );
}

function environEntries(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch (error) {
    if (isPassing(error)) throw error;
    return [];
  }
}

async function psStart(pid: number): Promise<string | undefined> {
  const result = await ps(['-o', 'state=,lstart=', '-p', String(pid)]);
  const match = /^(\S+)\s+(.+)$/.exec(result.trim());
  return match === null || match[1]?.startsWith('Z') ? undefined : match[2];
}

async function psEnvironments(wanted: string): Promise<number[]> {
  const lines = (await ps(['-A', '-E', '-ww', '-o', 'pid=,command='])).split('\n');
  return lines
    .filter((line) => ` ${line} `.includes(` ${wanted} `))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => Number.isSafeInteger(pid));
}

async function ps(args: readonly string[]): Promise<string> {
  const result = await run('ps', args, { cwd: '/', env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, timeoutMs: 5000 });
  return result.stdout;
}

import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hasCode } from './app-error.ts';
import { libErrors } from './errors.ts';
import { kill, run } from './process.ts';
import { sleep } from './clock.ts';
import { variablesOf } from './text/variables.ts';
import { isPassing, repeated } from './transient.ts';

const LINUX = process.platform === 'linux';

/**
 * When a process was started: it tells the process from a later one with the same pid.
 * Undefined when there is no such process, or only its zombie. Throws when that cannot be known.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  return LINUX ? repeated(() => linuxStart(pid)) : psStart(pid);
}

/** A pid with its start time, since pids are used again. */
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
 * All processes that were started with `name=value` in their environment. Children inherit it: a whole tree is found,
 * also processes that have left its session or lost their parents.
 */
export async function findByEnvironment(name: string, value: string): Promise<number[]> {
  const found = new Set<number>();
  await eachWithEnvironment(`${name}=${value}`, (pid) => found.add(pid));
  return [...found];
}

/** Kills all processes with the mark, and what they start meanwhile. Returns how many were killed. */
export async function killByEnvironment(name: string, value: string): Promise<number> {
  const killed = new Map<number, string | undefined>();
  for (let round = 0; round < 20; round++) {
    const found: number[] = [];
    // Killed as soon as it is found: it may start processes as fast as the others are read.
    const all = await eachWithEnvironment(`${name}=${value}`, (pid) => kill(pid, 'SIGKILL') && found.push(pid));
    for (const pid of found) killed.set(pid, await processStart(pid));
    if (all && found.length === 0 && (await areGone(killed))) break;
    await sleep(5 * (round + 1));
  }
  return killed.size;
}

/** Resolves with whether all processes could be looked at. */
async function eachWithEnvironment(wanted: string, use: (pid: number) => void): Promise<boolean> {
  const others = (pid: number): void => {
    if (pid !== process.pid) use(pid);
  };
  if (LINUX) return repeated(async () => eachLinuxEnvironment(wanted, others));
  (await psEnvironments(wanted)).forEach(others);
  return true;
}

/** A dying process loses its environment before it is gone, so the search alone is not enough. */
async function areGone(processes: ReadonlyMap<number, string | undefined>): Promise<boolean> {
  const now = await Promise.all(
    [...processes].map(async ([pid, started]) => started === undefined || (await processStart(pid)) !== started),
  );
  return now.every(Boolean);
}

let bootId: string | undefined;

async function ownBoot(): Promise<string> {
  return (bootId ??= (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8));
}

/** Whether a process with this start has ended with an earlier boot of the machine; false when that cannot be known. */
export async function isOfEarlierBoot(started: string): Promise<boolean> {
  return LINUX && /^[0-9a-f]{8}:/.test(started) && !started.startsWith(`${await ownBoot()}:`);
}

/** The PID namespace of this process, where there are any: in each of them the same number is another process. */
export function pidNamespace(): string | undefined {
  try {
    return LINUX ? readlinkSync('/proc/self/ns/pid') : undefined;
  } catch {
    return undefined;
  }
}

async function linuxStart(pid: number): Promise<string | undefined> {
  try {
    const fields = statFields(await readFile(`/proc/${pid}/stat`, 'utf8'));
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${await ownBoot()}:${fields[19]}`;
  } catch (error) {
    // A process that could not be examined for lack of descriptors must not count as dead.
    if (isPassing(error)) throw error;
    return undefined;
  }
}

/** How often the list of processes is read again in one search, on a machine where processes are started without end. */
const READINGS = 20;

/** Reads the list of processes again until it has no new one: what is started while the others are read is found too. */
function eachLinuxEnvironment(wanted: string, use: (pid: number) => void): boolean {
  const seen = new Set<string>();
  for (let reading = 0; reading < READINGS; reading++) {
    const fresh = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !seen.has(name));
    if (fresh.length === 0) return true;
    for (const name of fresh) {
      const pid = Number(name);
      const entries = environEntries(pid);
      if (entries.length === 1 && entries[0] === '' && isBecomingAnotherProgram(pid)) continue;
      seen.add(name);
      if (entries.includes(wanted)) use(pid);
    }
  }
  return false;
}

/** Flags of a kernel thread, and of a process that ends: they have no environment, and will have none. */
const WITHOUT_ENVIRONMENT = 0x20_0000 | 0x4;

/** For a moment in the middle of `exec` a process has no environment: it may have the mark. */
function isBecomingAnotherProgram(pid: number): boolean {
  try {
    const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    // Where its environment begins and ends: both are 0 at that moment, and the same when it has none.
    const [begin, end] = [fields[47], fields[48]];
    return (Number(fields[6]) & WITHOUT_ENVIRONMENT) === 0 && (begin !== end || end === '0');
  } catch (error) {
    if (isPassing(error)) throw error;
    return false;
  }
}

/** The command, in parentheses, may hold any character: fields are counted from the last parenthesis. */
const statFields = (stat: string): readonly string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ');

/** The environment that a process was started with; empty when it has ended, is another user's, or cannot be read. */
export async function environmentOf(pid: number): Promise<Readonly<Record<string, string>>> {
  if (LINUX) return variablesOf(environEntries(pid));
  return variablesOf((await ps(['-E', '-ww', '-o', 'command=', '-p', String(pid)])).trimEnd().split(' '));
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

/** `ps` tells times in the zone of its environment: a machine that changes its zone must not change the start of a process. */
const PS_ENV = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
const PS_MS = 5000;

/** Throws PROCESSES_UNSEEN when there is no whole answer: what was not seen must not count as dead. */
async function ps(args: readonly string[]): Promise<string> {
  return repeated(
    async () => {
      const { stdout, signal, timedOut } = await run('ps', args, { cwd: '/', env: PS_ENV, timeoutMs: PS_MS });
      if (timedOut || signal !== null) throw libErrors.PROCESSES_UNSEEN({ waitedMs: PS_MS });
      return stdout;
    },
    (error) => isPassing(error) || hasCode(error, libErrors.PROCESSES_UNSEEN),
  );
}

import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { kill, readSystemFile, sleep } from '../lib/index.ts';

const ROOT = 0;
/** No program is in it, and nothing is open to it. */
const NO_GROUP = 60_002;
/** A killed process may hang in the kernel. */
const GONE_MS = 5000;
const { SIGTERM } = constants.signals;

/** Does the work with the rights of this user, and none of root's. The group stays: what it makes is of the agent's group. */
export function asUser<Result>(uid: number, work: () => Result): Result {
  if (uid === ROOT) return work();
  process.seteuid?.(uid);
  try {
    return work();
  } finally {
    process.seteuid?.(ROOT);
  }
}

/** The same with the user's group, for work that makes files. */
export function asUserAndGroup<Result>(uid: number, work: () => Result): Result {
  return withGroup(uid, () => asUser(uid, work));
}

/** Does the work with the group of this user alone: what it makes is of this group. */
export function withGroup<Result>(uid: number, work: () => Result): Result {
  process.setegid?.(uid);
  try {
    return work();
  } finally {
    process.setegid?.(NO_GROUP);
  }
}

/** Gives up what the groups of root may do. */
export function leaveGroups(): void {
  process.setgroups?.([]);
  process.setgid?.(NO_GROUP);
}

/**
 * Signals all processes of this user in one system call: none of them can fork faster than that. It spares pid 1 and this
 * process.
 */
export function signalAll(uid: number, signal: NodeJS.Signals): void {
  asUser(uid, () => kill(-1, signal));
}

/**
 * Sends SIGTERM to the processes of this user that it would end at once. When such a process is still there after a first
 * signal, it has lost that one: a bash that has a trap, and just then starts a program, loses it for both.
 */
export function terminateAgain(uid: number): void {
  for (const { pid, status } of processesOf(uid))
    if (!handles(status, SIGTERM)) asUser(uid, () => kill(Number(pid), 'SIGTERM'));
}

/** Whether a process blocks, ignores or catches a signal. */
function handles(status: string, signal: number): boolean {
  const sets = [...status.matchAll(/^Sig(?:Blk|Ign|Cgt):\t([0-9a-f]+)$/gm)];
  return sets.some(([, set = '']) => ((BigInt(`0x${set}`) >> BigInt(signal - 1)) & 1n) === 1n);
}

/** What the kernel says about each process of this user. */
export function* processesOf(uid: number): Generator<{ readonly pid: string; readonly status: string }> {
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const status = readSystemFile(`/proc/${pid}/status`);
    if (/^Uid:\t(\d+)/m.exec(status)?.[1] === String(uid)) yield { pid, status };
  }
}

function isAnyLeft(uid: number): boolean {
  for (const { status } of processesOf(uid)) if (!isEnded(status)) return true;
  return false;
}

/** Whether a process of ours runs no more. */
export const hasEnded = (pid: number): boolean => isEnded(readSystemFile(`/proc/${pid}/status`));

/** It waits for its parent alone. The first of its threads may have ended before the others. */
const isEnded = (status: string): boolean => /^State:\t[ZX]/m.test(status) && /^Threads:\t[01]$/m.test(status);

/** Kills all processes of this user. False when one of them is still there after a while. */
export async function endAll(uid: number): Promise<boolean> {
  const until = performance.now() + GONE_MS;
  // The kernel calls it a success, too, when there are processes of other users alone.
  for (let round = 0; isAnyLeft(uid); round += 1) {
    if (performance.now() > until) return false;
    signalAll(uid, 'SIGKILL');
    await sleep(Math.min(round, 20));
  }
  return true;
}

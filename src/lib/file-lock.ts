import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { sleep, systemClock } from './clock.ts';
import { systemCode } from './app-error.ts';
import type { AppError } from './app-error.ts';
import { libErrors } from './errors.ts';
import { randomId } from './ids.ts';
import { isAlive, ownIdentity } from './process-tree.ts';

/** Who holds a lock, in words that survive a reused pid and a shared file system. */
export interface LockHolder {
  readonly pid: number;
  readonly started: string;
  readonly host: string;
  readonly since: string;
  readonly token: string;
}

export type LockAttempt =
  | { readonly taken: true; readonly token: string; readonly release: () => Promise<void> }
  | { readonly taken: false; readonly holder: LockHolder };

/**
 * Takes the lock at once or says who holds it. A lock whose process is gone is taken over. The token tells one taking of
 * the lock from another; a lock that was removed and is made again keeps its token.
 */
export async function tryLock(file: string, token: string = randomId()): Promise<LockAttempt> {
  const identity = await ownIdentity();
  const mine: LockHolder = { ...identity, host: hostname(), since: new Date().toISOString(), token };
  const draft = `${file}.${token}`;
  try {
    await writeFile(draft, JSON.stringify(mine));
    for (;;) {
      if (await linkInto(draft, file)) return { taken: true, token, release: () => release(file, token) };
      const holder = await readHolder(file);
      if (holder === undefined) continue;
      if (await isHeld(holder)) return { taken: false, holder };
      await removeStale(file, holder, draft);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Is the lock still the one that was taken with this token? */
export async function hasToken(file: string, token: string): Promise<boolean> {
  return (await readHolder(file))?.token === token;
}

/** Who holds the lock now; undefined when it is free. */
export async function lockHolder(file: string): Promise<LockHolder | undefined> {
  const holder = await readHolder(file);
  return holder !== undefined && (await isHeld(holder)) ? holder : undefined;
}

/** What to say when the holder is on another host: nothing can be known about it from here, and nothing done to it. */
export function foreignLock(file: string, { host, pid }: LockHolder): AppError | undefined {
  return host === hostname() ? undefined : libErrors.LOCK_FOREIGN({ file, pid, host });
}

/** Does the work while holding the lock; waits for it up to `waitMs`. */
export async function withLock<Result>(file: string, waitMs: number, work: () => Promise<Result>): Promise<Result> {
  const deadline = systemClock.monotonic() + waitMs;
  for (;;) {
    const attempt = await tryLock(file);
    if (attempt.taken) {
      try {
        return await work();
      } finally {
        await attempt.release();
      }
    }
    if (systemClock.monotonic() > deadline) {
      throw (
        foreignLock(file, attempt.holder) ?? libErrors.LOCK_BUSY({ file, pid: attempt.holder.pid, waitedMs: waitMs })
      );
    }
    await sleep(5 + Math.random() * 20);
  }
}

/** A hard link is made whole or not at all, and never over an existing file. */
async function linkInto(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(file: string): Promise<LockHolder | undefined> {
  let text;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  return holderOf(text);
}

/** Does the process that wrote this text of a lock live? */
export async function isHeldBy(text: string): Promise<boolean> {
  return isHeld(holderOf(text));
}

function holderOf(text: string): LockHolder {
  const dead: LockHolder = { pid: 0, started: '', host: hostname(), since: '', token: text };
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) ? value : dead;
  } catch {
    // Links are made whole, so a file that does not parse was never a lock of ours: it has no holder.
    return dead;
  }
}

function isHolder(value: unknown): value is LockHolder {
  if (typeof value !== 'object' || value === null) return false;
  return 'pid' in value && typeof value.pid === 'number' && 'started' in value && 'host' in value && 'token' in value;
}

/** On another host nothing can be known about the process, so it counts as alive. */
async function isHeld(holder: LockHolder): Promise<boolean> {
  if (holder.pid === 0) return false;
  return holder.host !== hostname() || isAlive(holder);
}

/**
 * Takes a dead process's lock away. Only the holder of the guard may do so, and looks again first: otherwise two who
 * saw the same stale lock could remove each other's new one. A guard whose holder died is a stale lock itself.
 */
async function removeStale(file: string, stale: LockHolder, draft: string): Promise<void> {
  const guard = `${file}.takeover`;
  if (!(await linkInto(draft, guard))) {
    const other = await readHolder(guard);
    if (other !== undefined && !(await isHeld(other))) return removeStale(guard, other, draft);
    return sleep(2);
  }
  try {
    const now = await readHolder(file);
    if (now?.token === stale.token) await rm(file, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

async function release(file: string, token: string): Promise<void> {
  if (await hasToken(file, token)) await rm(file, { force: true });
}

import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { sleep, systemClock } from './clock.ts';
import { systemCode } from './app-error.ts';
import type { AppError } from './app-error.ts';
import { libErrors } from './errors.ts';
import { randomId } from './ids.ts';
import { isAlive, isOfEarlierBoot, ownIdentity, pidNamespace } from './process-tree.ts';
import { repeated } from './transient.ts';

/**
 * The process that holds a lock, told apart from one with a reused pid, on another host of a shared file system, or in
 * a container that has the name of its host.
 */
export interface LockHolder {
  readonly pid: number;
  readonly started: string;
  readonly host: string;
  /** Its PID namespace. Without it that of the reader is meant. */
  readonly pids?: string;
  readonly since: string;
  readonly token: string;
}

export type LockAttempt =
  | { readonly taken: true; readonly token: string; readonly release: () => Promise<void> }
  | { readonly taken: false; readonly holder: LockHolder };

/**
 * Takes the lock at once or says who holds it. A lock whose process is dead is taken over. Each taking has a token of its
 * own; a caller that makes its removed lock again passes the old one.
 */
export async function tryLock(file: string, token: string = randomId()): Promise<LockAttempt> {
  const identity = await ownIdentity();
  const since = new Date().toISOString();
  const pids = pidNamespace();
  const mine: LockHolder = { ...identity, host: hostname(), ...(pids === undefined ? {} : { pids }), since, token };
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
    // A draft that stays holds no lock: it is removed later, like that of a dead process.
    await removed(draft).catch(() => undefined);
  }
}

/** A lock that its living holder does not remove keeps all others out, so a failing disk gets more than one chance. */
const untilDone = (work: () => Promise<void>): Promise<void> => repeated(work, () => true);

const removed = (file: string): Promise<void> => untilDone(() => rm(file, { force: true }));

/** Whether the lock is still the one that was taken with this token. */
export async function hasToken(file: string, token: string): Promise<boolean> {
  return (await readHolder(file))?.token === token;
}

/** Who holds the lock now; undefined when it is free. */
export async function lockHolder(file: string): Promise<LockHolder | undefined> {
  const holder = await readHolder(file);
  return holder !== undefined && (await isHeld(holder)) ? holder : undefined;
}

/** The error when the holder is on another host or in another container: its process can neither be seen nor ended here. */
export function foreignLock(file: string, holder: LockHolder): AppError | undefined {
  const { host, pid } = holder;
  const otherHost = host !== hostname();
  return otherHost || isHidden(holder) ? libErrors.LOCK_FOREIGN({ file, pid, host, otherHost }) : undefined;
}

const isHidden = ({ pids }: LockHolder): boolean => pids !== undefined && pids !== pidNamespace();

/** Does the work while holding the lock; waits for it up to `waitMs`, or until it is called off. */
export async function withLock<Result>(
  file: string,
  waitMs: number,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const deadline = systemClock.monotonic() + waitMs;
  for (;;) {
    signal?.throwIfAborted();
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
    await sleep(5 + Math.random() * 20, signal);
  }
}

/** A hard link is atomic, and never replaces an existing file. */
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

/** Whether the process that has written this text of a lock still runs. */
export async function isHeldBy(text: string): Promise<boolean> {
  return isHeld(holderOf(text));
}

function holderOf(text: string): LockHolder {
  const dead: LockHolder = { pid: 0, started: '', host: hostname(), since: '', token: text };
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) ? value : dead;
  } catch {
    // Locks are made by atomic links, so a file that does not parse is none of ours: it has no holder.
    return dead;
  }
}

function isHolder(value: unknown): value is LockHolder {
  if (typeof value !== 'object' || value === null) return false;
  return 'pid' in value && typeof value.pid === 'number' && 'started' in value && 'host' in value && 'token' in value;
}

/** A process of another host or container counts as alive, since nothing can be known about it but the boot of this host. */
async function isHeld(holder: LockHolder): Promise<boolean> {
  if (holder.pid === 0) return false;
  if (holder.host !== hostname()) return true;
  return isHidden(holder) ? !(await isOfEarlierBoot(holder.started)) : isAlive(holder);
}

/**
 * Removes the lock of a dead process. Only the holder of the guard may do so, after a second look: otherwise two processes
 * that have seen the same stale lock could remove each other's new one. The guard of a dead process is a stale lock, too.
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
    if (now?.token === stale.token) await removed(file);
  } finally {
    await removed(guard);
  }
}

async function release(file: string, token: string): Promise<void> {
  await untilDone(async () => {
    if (await hasToken(file, token)) await rm(file, { force: true });
  });
}

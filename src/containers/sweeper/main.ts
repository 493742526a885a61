import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { findEngine } from '../../engines/index.ts';
import { findByEnvironment, lockHolder, removeTree, repeated, sleep, systemClock } from '../../lib/index.ts';
import { MARKS } from '../../protocol/index.ts';
import { sweepOwner } from '../sweep.ts';

const LOOK_MS = 1000;
const ATTEMPTS = 60;
/** The part of the lease after which it removes things, so that all is gone when the lease ends. */
const SHARE = 0.9;

interface Wishes {
  readonly owner: string;
  readonly lock: string;
  readonly leaseMs: number;
  /** Goes with the owner. */
  readonly folder: string | undefined;
}

/**
 * Waits for the end of its owner's process, which holds its stdin. After `done` on stdin it ends. Without it the owner was
 * killed: then it waits while a resumed owner may take the containers over, and removes what is left of them: a container
 * that was never started, a paused one, a volume.
 */
async function main({ owner, lock, leaseMs, folder }: Wishes): Promise<void> {
  for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => undefined);
  if ((await text(process.stdin)).includes('done')) return;
  if (!(await isAlone(owner, lock, leaseMs * SHARE))) return;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const engine = await findEngine(process.env);
      // To find the engine may take long: an owner that was resumed meanwhile keeps its containers.
      if ((await lockHolder(lock)) === undefined) {
        await sweepOwner(engine, owner);
        if (folder !== undefined) await removeTree(folder);
        return;
      }
    } catch {
      // The engine may be restarting: it is asked again.
      await sleep(LOOK_MS);
    }
    if ((await known(() => lockHolder(lock))) !== undefined && !(await isAlone(owner, lock, leaseMs * SHARE))) return;
  }
}

/**
 * True when no process has held the lock for `ms`. False when a resumed owner has started a sweeper of its own: then this
 * one is not needed. Until then the resumed owner may be killed as well.
 */
async function isAlone(owner: string, lock: string, ms: number): Promise<boolean> {
  const { monotonic, wokeAt } = systemClock;
  // After a standstill of the machine the time begins again: no resume was possible meanwhile.
  for (let since = monotonic(); monotonic() - Math.max(since, wokeAt()) < ms;) {
    await sleep(Math.min(LOOK_MS, ms / 5));
    const holder = await known(() => lockHolder(lock));
    if (holder === undefined) continue;
    const mark = `${owner}.${holder.pid}`;
    if ((await known(() => findByEnvironment(MARKS.sweeper, mark))).length > 0) return false;
    since = monotonic();
  }
  return true;
}

/** For a moment it may not be known which processes run: then it asks again, for it is the last that can clean up. */
const known = <Result>(ask: () => Promise<Result>): Promise<Result> => repeated(ask, () => true);

const { values } = parseArgs({
  options: {
    owner: { type: 'string' },
    lock: { type: 'string' },
    'lease-ms': { type: 'string' },
    folder: { type: 'string' },
  },
});
const { owner = '', lock = '', 'lease-ms': leaseMs = '0', folder } = values;
await main({ owner, lock, leaseMs: Number(leaseMs), folder });

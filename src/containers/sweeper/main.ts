import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { findEngine } from '../../engines/index.ts';
import { findByEnvironment, lockHolder, sleep, systemClock } from '../../lib/index.ts';
import { MARKS } from '../../protocol/index.ts';
import { sweepOwner } from '../sweep.ts';

const LOOK_MS = 1000;
const ATTEMPTS = 60;
/** Of the lease, so that all is gone when it is over. */
const SHARE = 0.9;

/**
 * A process that lives as long as the orchestrator of a run in containers and does nothing. When the orchestrator is killed,
 * this process waits for as long as a resumed run may take the workers over, and then clears away what is left of them: a
 * container that was never started, one that is paused, a volume. The end of stdin tells; `done` before it says that
 * all is in order.
 */
async function main(owner: string, lock: string, leaseMs: number): Promise<void> {
  for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => undefined);
  if ((await text(process.stdin)).includes('done')) return;
  if (!(await isAlone(owner, lock, leaseMs * SHARE))) return;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const engine = await findEngine(process.env);
      // To find it may take long: an orchestrator that has come meanwhile keeps its workers.
      if ((await lockHolder(lock)) === undefined) return void (await sweepOwner(engine, owner));
    } catch {
      // An engine that is just being started anew is asked again.
      await sleep(LOOK_MS);
    }
    if ((await lockHolder(lock)) !== undefined && !(await isAlone(owner, lock, leaseMs * SHARE))) return;
  }
}

/**
 * Resolves with true when no process has held the lock for so long. An orchestrator that resumes the run may be killed before
 * it has started a sweeper of its own; once it has, this one is not needed, and the answer is false.
 */
async function isAlone(owner: string, lock: string, ms: number): Promise<boolean> {
  const { monotonic, wokeAt } = systemClock;
  // After a standstill of the machine the whole time is given again: a resume was not possible meanwhile.
  for (let since = monotonic(); monotonic() - Math.max(since, wokeAt()) < ms;) {
    await sleep(Math.min(LOOK_MS, ms / 5));
    const holder = await lockHolder(lock);
    if (holder === undefined) continue;
    if ((await findByEnvironment(MARKS.sweeper, `${owner}.${holder.pid}`)).length > 0) return false;
    since = monotonic();
  }
  return true;
}

const { values } = parseArgs({
  options: { owner: { type: 'string' }, lock: { type: 'string' }, 'lease-ms': { type: 'string' } },
});
await main(values.owner ?? '', values.lock ?? '', Number(values['lease-ms'] ?? 0));

import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { findEngine } from '../../engines/index.ts';
import { lockHolder, sleep, systemClock } from '../../lib/index.ts';
import { sweepOwner } from '../sweep.ts';

const LOOK_MS = 1000;
const ATTEMPTS = 60;
/** Of the lease, so that all is gone when it is over. */
const SHARE = 0.9;

/**
 * The last hand of a run in containers: a process that lives as long as the orchestrator and does nothing. When that is
 * killed, it waits for as long as a resumed run may take the workers over, and then clears away what is left of them: a
 * container that was never started, one that is paused, a volume. The end of stdin tells; `done` before it says that
 * all is in order.
 */
async function main(owner: string, lock: string, leaseMs: number): Promise<void> {
  for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => undefined);
  if ((await text(process.stdin)).includes('done')) return;
  await nobodyFor(lock, leaseMs * SHARE);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const engine = await findEngine(process.env);
      // To find it may take long: whoever has come meanwhile keeps his workers.
      if ((await lockHolder(lock)) === undefined) return void (await sweepOwner(engine, owner));
    } catch {
      // An engine that is just being started anew is asked again.
      await sleep(LOOK_MS);
    }
    if ((await lockHolder(lock)) !== undefined) await nobodyFor(lock, leaseMs * SHARE);
  }
}

/**
 * Whoever resumes the run holds its lock. He may be killed too, and before he has a last hand of his own: so we stand by
 * until he is gone, and then it is the same as before.
 */
async function nobodyFor(lock: string, ms: number): Promise<void> {
  const { monotonic, wokeAt } = systemClock;
  // After a standstill of the machine the whole time is given again: a resume was not possible meanwhile.
  for (let since = monotonic(); monotonic() - Math.max(since, wokeAt()) < ms;) {
    await sleep(Math.min(LOOK_MS, ms / 5));
    if ((await lockHolder(lock)) !== undefined) since = monotonic();
  }
}

const { values } = parseArgs({
  options: { owner: { type: 'string' }, lock: { type: 'string' }, 'lease-ms': { type: 'string' } },
});
await main(values.owner ?? '', values.lock ?? '', Number(values['lease-ms'] ?? 0));

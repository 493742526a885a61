import path from 'node:path';
import { makeFolder, randomId, writeFileAtomic } from '../lib/index.ts';
import type { Lease } from '../protocol/index.ts';

/** Renews the sign of life that workers and egress proxies watch, until it is closed. */
export async function keepLease(file: string, leaseMs: number): Promise<{ close(): void }> {
  await makeFolder(path.dirname(file));
  const owner = randomId();
  let beat = 0;
  const renew = async (): Promise<void> => {
    beat += 1;
    const lease: Lease = { version: 1, owner, beat };
    await writeFileAtomic(file, JSON.stringify(lease), { durable: false });
  };
  await renew();
  // A renewal that fails, as on a full disk, is tried again; the watchers decide how long they wait.
  const timer = setInterval(() => void renew().catch(() => undefined), Math.max(20, leaseMs / 6));
  return { close: () => clearInterval(timer) };
}

import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { findEngine } from '../engines/index.ts';
import { readUntrusted, sleep } from '../lib/index.ts';
import { sweepRun } from '../launchers/index.ts';
import { lease as leaseSchema } from '../protocol/index.ts';

/** A resumed run has written its lease by then; so had ours, had it lived. */
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
async function main(run: string, leaseFile: string, leaseMs: number): Promise<void> {
  for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => undefined);
  if ((await text(process.stdin)).includes('done')) return;
  const owner = await ownerOf(leaseFile);
  const deadline = performance.now() + leaseMs * SHARE;
  while (performance.now() < deadline) {
    await sleep(Math.min(LOOK_MS, leaseMs));
    if ((await ownerOf(leaseFile)) !== owner) return;
  }
  await sweep(run, leaseFile, owner);
}

/** An engine that is just being started anew is asked again. */
async function sweep(run: string, leaseFile: string, owner: string | undefined): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if ((await ownerOf(leaseFile)) !== owner) return;
    try {
      await sweepRun(await findEngine(process.env), run);
      return;
    } catch {
      await sleep(LOOK_MS);
    }
  }
}

async function ownerOf(file: string): Promise<string | undefined> {
  try {
    return leaseSchema.parse(JSON.parse((await readUntrusted(file, 4096)) ?? '')).owner;
  } catch {
    return undefined;
  }
}

const { values } = parseArgs({
  options: { run: { type: 'string' }, lease: { type: 'string' }, 'lease-ms': { type: 'string' } },
});
await main(values.run ?? '', values.lease ?? '', Number(values['lease-ms'] ?? 0));

import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;
const LIMIT_MS = 240_000;

/** Polls until the check holds; the limit is there for what never happens, not for what is slow. */
export async function waitUntil(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Waited ${LIMIT_MS / 1000} s in vain until ${what}.`);
    await delay(POLL_MS);
  }
}

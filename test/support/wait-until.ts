import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;
/** For what never happens: below the limit of a test, so that the failure says what it waited for. */
export const WAIT_LIMIT_MS = 900_000;

/** Polls until the check holds. */
export async function waitUntil(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Waited ${WAIT_LIMIT_MS / 1000} s in vain until ${what}.`);
    await delay(POLL_MS);
  }
}

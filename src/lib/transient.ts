import { sleep } from './clock.ts';
import { systemCode } from './app-error.ts';

/** Out of descriptors, processes or memory: what others give back a moment later. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);
const WAITS_MS = [50, 150, 400, 1000];

export function isPassing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some((each) => PASSING.has(systemCode(each) ?? ''));
}

/** Does the work again after trouble that passes: five times at most, for less than two seconds. It must do no harm twice. */
export async function repeated<Result>(
  work: (attempt: number) => Promise<Result>,
  passes: (error: unknown) => boolean = isPassing,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const waitMs = WAITS_MS[attempt - 1];
      if (waitMs === undefined || !passes(error)) throw error;
      await sleep(waitMs);
    }
  }
}

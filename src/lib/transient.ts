import { sleep } from './clock.ts';
import { systemCode } from './app-error.ts';

/** No descriptors, processes or memory: other processes may release some a moment later. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);
const WAITS_MS = [50, 150, 400, 1000];

export function isPassing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some((each) => PASSING.has(systemCode(each) ?? ''));
}

/** Does the work again after an error that may pass: five times at most, within two seconds. The work must be harmless when repeated. */
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

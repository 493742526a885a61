import { kill, sleep } from '../lib/index.ts';

const ROOT = 0;
/** A killed process may hang in the kernel. */
const GONE_MS = 5000;

/** Does the work with the rights of this user alone, and without any of root's. */
export function asUser<Result>(uid: number, work: () => Result): Result {
  process.setegid?.(uid);
  process.seteuid?.(uid);
  try {
    return work();
  } finally {
    process.seteuid?.(ROOT);
    process.setegid?.(ROOT);
  }
}

/**
 * Signals all processes of this user in one system call: none of them can fork faster than that. It spares pid 1 and this
 * process. False when there is none.
 */
export function signalAll(uid: number, signal: NodeJS.Signals | 0): boolean {
  return asUser(uid, () => kill(-1, signal));
}

/** Kills all processes of this user. False when one of them is still there after a while. */
export async function endAll(uid: number): Promise<boolean> {
  const until = performance.now() + GONE_MS;
  for (let round = 0; signalAll(uid, 'SIGKILL'); round += 1) {
    if (performance.now() > until) return false;
    await sleep(Math.min(round, 20));
  }
  return true;
}

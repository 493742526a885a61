import { execFileSync } from 'node:child_process';

/** Whether system calls of a process can be made to fail here; in CI they must be. */
export const STRACE = hasStrace();
if (!STRACE && process.env['CI'] === 'true') throw new Error('Tests that fail or kill at system calls need strace.');

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

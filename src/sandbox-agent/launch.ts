import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { StartWish } from '../protocol/index.ts';
import type { OutputPipes } from './pipes.ts';

export type Program = ChildProcess;

/** Makes the program the first that the kernel kills when memory runs out, and goes to its folder with its user's rights. */
const LAUNCH = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
cd -- "$0" 2> /dev/null || cd -- "$HOME" 2> /dev/null || cd /
exec "$@"`;

/** Starts a program as its user, with the pipes as its output and a descriptor 3 for its working directory. */
export function launch({ argv, env, cwd, home, uid, stdin }: StartWish, pipes: OutputPipes): ChildProcess {
  const child = spawn('/bin/sh', ['-c', LAUNCH, cwd, ...argv], {
    cwd: '/',
    env: { HOME: home, ...env },
    uid,
    gid: uid,
    detached: true,
    stdio: [stdin === null ? 'ignore' : 'pipe', ...pipes.ends, 'pipe'],
  });
  pipes.handOver();
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(Buffer.from(stdin ?? '', 'base64'));
  return child;
}

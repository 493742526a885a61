import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import { run } from '../lib/index.ts';

/** How many executions may be under way at a time. */
const PAIRS = 32;

export interface OutputPipes {
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** The names of the program's ends. */
  readonly files: readonly [string, string];
  /** For the program. */
  readonly ends: readonly [number, number];
  /** Closes this side of the program's ends, once the program has them. */
  handOver(): void;
  /** `clean`: no process has them any more. */
  release(clean: boolean): void;
}

export type PipePool = Awaited<ReturnType<typeof createPipePool>>;

/**
 * Named pipes for the output of programs. Node's own are sockets, which a program cannot open again: `echo > /dev/stderr`
 * would fail. Every user may write to them, and none can reach the folder that they are in.
 */
export async function createPipePool(folder: string) {
  mkdirSync(folder, { mode: 0o700 });
  const files = Array.from({ length: PAIRS * 2 }, (_, index) => path.join(folder, String(index)));
  const { code, stderr } = await run('mkfifo', ['-m', '666', ...files], { cwd: '/', env: { PATH: '/usr/bin:/bin' } });
  if (code !== 0) throw new Error(`mkfifo ended with ${code}: ${stderr}`);
  const free = Array.from({ length: PAIRS }, (_, index) => files.slice(index * 2, index * 2 + 2));
  return {
    /** Undefined when all are in use. */
    take: (): OutputPipes | undefined => {
      const pair = free.pop();
      if (pair === undefined) return undefined;
      const [out = '', err = ''] = pair;
      const [stdout, stderr] = [openForReading(out), openForReading(err)];
      const ends = [openSync(out, constants.O_WRONLY), openSync(err, constants.O_WRONLY)] as const;
      return {
        files: [out, err],
        stdout,
        stderr,
        ends,
        handOver: () => ends.forEach((end) => closeSync(end)),
        release: (clean) => {
          stdout.destroy();
          stderr.destroy();
          // What is left in a pipe that someone else may still have would come into the output of another program.
          if (clean) free.push(pair);
        },
      };
    },
  };
}

function openForReading(file: string): Socket {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

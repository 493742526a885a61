import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
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
  const pairs = await createPairs(folder);
  return {
    /** Undefined when all are in use. */
    take: (): OutputPipes | undefined => {
      const pair = pairs.take();
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
          if (clean) pairs.give(pair);
          else void pairs.replace(pair);
        },
      };
    },
  };
}

async function createPairs(folder: string) {
  mkdirSync(folder, { mode: 0o700 });
  let last = 0;
  const make = async (count: number): Promise<string[][]> => {
    const made = Array.from({ length: count }, () => [1, 2].map(() => path.join(folder, String(++last))));
    await makePipes(made.flat());
    return made;
  };
  const free = await make(PAIRS);
  let missing = 0;
  /** What is left in a pipe that someone else may still have would come into the output of another program. */
  const replace = async (pair: readonly string[]): Promise<void> => {
    for (const file of pair) rmSync(file, { force: true });
    const count = missing + 1;
    missing = 0;
    try {
      free.push(...(await make(count)));
    } catch {
      // No room for a process, perhaps: again with the next one.
      missing += count;
    }
  };
  return {
    take: (): string[] | undefined => free.pop(),
    give: (pair: string[]): void => void free.push(pair),
    replace,
  };
}

async function makePipes(files: readonly string[]): Promise<void> {
  const { code, stderr } = await run('mkfifo', ['-m', '666', ...files], { cwd: '/', env: { PATH: '/usr/bin:/bin' } });
  if (code !== 0) throw new Error(`mkfifo ended with ${code}: ${stderr}`);
}

function openForReading(file: string): Socket {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

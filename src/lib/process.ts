import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { sleep, startTimer } from './clock.ts';
import { reasonOf } from './app-error.ts';
import type { AppError } from './app-error.ts';
import { exhausted, libErrors } from './errors.ts';
import { isPassing } from './transient.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Common {
  readonly cwd: string;
  /** The whole environment of the process: nothing is added to it. */
  readonly env: Environment;
}

/** Text, or an open file descriptor that is read from where it stands. */
type Input = string | number;

interface RunOptions extends Common {
  readonly input?: Input;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** How a process ended. `code` is null when a signal ended it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface RunResult extends ProcessEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** How long a pipe may be silent after its program has ended, before it is closed though a process still holds it. */
const DRAIN_MS = 300;
/** How many such spans we read on at most: what has left the group may chatter for ever. */
const DRAIN_ROUNDS = 10;

/** Runs a short command to its end. A non-zero exit is a result, not an exception; not being able to start is one. */
export async function run(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const job = startJob(file, args, {
    ...options,
    onStdout: (text) => stdout.push(text),
    onStderr: (text) => stderr.push(text),
  });
  let timedOut = false;
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : startTimer(options.timeoutMs, () => {
          timedOut = true;
          void job.stop(0);
        });
  const abort = (): void => void job.stop(0);
  options.signal?.addEventListener('abort', abort, { once: true });
  if (options.signal?.aborted) abort();
  try {
    const end = await job.done;
    return { ...end, stdout: stdout.join(''), stderr: stderr.join(''), timedOut };
  } finally {
    timer?.cancel();
    options.signal?.removeEventListener('abort', abort);
  }
}

interface JobOptions extends Common {
  readonly input?: Input;
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
  /** Ends what has left the group; called when the process is gone, while its output is still read. */
  readonly sweep?: () => Promise<void>;
}

/** A process in a group of its own, with everything it starts. */
export interface Job {
  readonly pid: number | undefined;
  /** Resolves when the process is gone, its output is read and what it left behind in its group is killed. */
  readonly done: Promise<ProcessEnd>;
  /** SIGTERM to the group; SIGKILL to what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export function startJob(file: string, args: readonly string[], options: JobOptions): Job {
  // Node's pipes are sockets, and a bash with a socket for its stdin reads the user's .bashrc.
  const input = options.input ?? '';
  const stdin = typeof input === 'number' ? input : input === '' ? 'ignore' : 'pipe';
  const child = spawnGroup(file, args, options, [stdin, 'pipe', 'pipe']);
  const { pid } = child;
  const ended = endOf(child, file);
  if (typeof input === 'string') feed(child, input);
  const output = [collect(child.stdout, options.onStdout), collect(child.stderr, options.onStderr)];
  const done = ended.then(async (end) => {
    // What it left running goes first: then the pipes end, unless something has left the group and holds them still.
    killGroup(pid, 'SIGKILL');
    await options.sweep?.();
    await Promise.all(output.map((stream) => stream.drained(DRAIN_MS)));
    return end;
  });
  done.catch(() => undefined);
  return {
    pid,
    done,
    stop: async (graceMs) => {
      killGroup(pid, graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
      const over = await Promise.race([
        done.then(
          () => true,
          () => true,
        ),
        sleep(graceMs).then(() => false),
      ]);
      if (!over) killGroup(pid, 'SIGKILL');
      await done.catch(() => undefined);
    },
  };
}

interface DaemonOptions extends Common {
  /** An open file descriptor that takes stdout and stderr. */
  readonly output: number;
}

/** A process that may outlive us, in a group of its own. We hold its stdin: the end of it tells that we are gone. */
export function startDaemon(file: string, args: readonly string[], options: DaemonOptions): ChildProcess {
  const child = spawnGroup(file, args, options, ['pipe', options.output, options.output]);
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  return child;
}

/** Resolves with the end of a child; rejects only when it could not be started. */
export function endOf(child: ChildProcess, file: string): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      if (child.pid === undefined) reject(notStarted(file, error));
    });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** Signals every member of a process group; false when there is none. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals): boolean {
  if (pid === undefined) return false;
  return kill(-pid, signal);
}

/** Signals one process (or a group, by a negative number); false when there is none. */
export function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function spawnGroup(file: string, args: readonly string[], options: Common, stdio: StdioOptions): ChildProcess {
  try {
    return spawn(file, args, { cwd: options.cwd, env: { ...options.env }, stdio, detached: true });
  } catch (error) {
    throw notStarted(file, error);
  }
}

function notStarted(file: string, error: unknown): AppError {
  if (isPassing(error)) return exhausted(`Starting "${file}"`, error);
  return libErrors.PROCESS_NOT_STARTED({ command: file, reason: reasonOf(error) }, { cause: error });
}

function feed(child: ChildProcess, input: string): void {
  // A program that does not read its input closes the pipe: that is its right, not our error.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
}

interface Collector {
  /** Resolves when the stream has ended, or has been silent for so long; then it is closed. */
  drained(silenceMs: number): Promise<void>;
}

/** A process that could not be started for want of descriptors has no streams at all, whatever the types say. */
function collect(stream: Readable | null | undefined, onText: ((text: string) => void) | undefined): Collector {
  if (stream == null) return { drained: () => Promise.resolve() };
  let chunks = 0;
  const ended = new Promise<void>((resolve) => {
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    chunks += 1;
    onText?.(text);
    // One piece in each turn of the loop: a flood must not starve timers and all else.
    stream.pause();
    setImmediate(() => stream.resume());
  });
  return {
    drained: async (silenceMs) => {
      for (let [round, seen] = [0, -1]; round < DRAIN_ROUNDS && !stream.closed && seen !== chunks; round++) {
        seen = chunks;
        await Promise.race([ended, sleep(silenceMs)]);
        // After a stall of this process the timer comes before what is there to be read: reading gets its turn first.
        await new Promise((resolve) => setImmediate(resolve));
      }
      stream.destroy();
    },
  };
}

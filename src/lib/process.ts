import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessWithoutNullStreams, StdioOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { startTimer, within } from './clock.ts';
import { reasonOf } from './app-error.ts';
import type { AppError } from './app-error.ts';
import { exhausted, libErrors } from './errors.ts';
import { isPassing } from './transient.ts';

/** A process with all three streams. */
export type TalkingProcess = ChildProcessWithoutNullStreams;

export type Environment = Readonly<Record<string, string | undefined>>;

interface Common {
  readonly cwd: string;
  /** The whole environment of the process. */
  readonly env: Environment;
}

/** Text, or an open file descriptor, which is read from its position on. */
type Input = string | number;

interface RunOptions extends Common {
  readonly input?: Input;
  /** An open file descriptor that takes stdout. */
  readonly output?: number;
  readonly timeoutMs?: number;
  /** Characters of both outputs together; a command that prints more is killed. */
  readonly mostOutput?: number;
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
  /** It has printed more than it may; what came after that is not in the outputs. */
  readonly tooMuch: boolean;
}

/** Node can make no text of more than twice as many characters. */
export const MOST_OUTPUT = 256 * 1024 ** 2;

/** A process that has left the group may hold a pipe open: after the end of the program it is closed when silent for so long. */
const DRAIN_MS = 300;
/** How many such spans are waited for at most: that process may print for ever. */
const DRAIN_ROUNDS = 10;

/** Runs a short command to its end. A non-zero exit is a result; only a failed start is an exception. */
export async function run(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  let [timedOut, tooMuch] = [false, false];
  let room = options.mostOutput ?? MOST_OUTPUT;
  const keepIn = (texts: string[]) => (text: string) => {
    room -= text.length;
    if (room >= 0) texts.push(text);
    else if (!tooMuch) {
      tooMuch = true;
      abort();
    }
  };
  const job = startJob(file, args, { ...options, onStdout: keepIn(stdout), onStderr: keepIn(stderr) });
  const abort = (): void => void job.stop(0);
  const expire = (): void => {
    timedOut = true;
    abort();
  };
  const timer = options.timeoutMs === undefined ? undefined : startTimer(options.timeoutMs, expire);
  options.signal?.addEventListener('abort', abort, { once: true });
  if (options.signal?.aborted) abort();
  try {
    const end = await job.done;
    return { ...end, stdout: stdout.join(''), stderr: stderr.join(''), timedOut, tooMuch };
  } finally {
    timer?.cancel();
    options.signal?.removeEventListener('abort', abort);
  }
}

interface JobOptions extends Common {
  readonly input?: Input;
  /** An open file descriptor that takes stdout, of which `onStdout` sees nothing then. */
  readonly output?: number;
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
  /** Ends what has left the group; called after the end of the process, while its output is still read. */
  readonly sweep?: () => Promise<void>;
}

/** A process in a group of its own, with everything it starts. */
export interface Job {
  readonly pid: number | undefined;
  /** Resolves when the process has ended, its output is read, and the rest of its group is killed. */
  readonly done: Promise<ProcessEnd>;
  /** SIGTERM to the group; SIGKILL to what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export function startJob(file: string, args: readonly string[], options: JobOptions): Job {
  // No pipe without need: Node's pipes are sockets, and a bash whose stdin is a socket reads the user's .bashrc.
  const input = options.input ?? '';
  const stdin = typeof input === 'number' ? input : input === '' ? 'ignore' : 'pipe';
  const child = spawnGroup(file, args, options, [stdin, options.output ?? 'pipe', 'pipe']);
  const { pid } = child;
  const ended = endOf(child, file);
  if (typeof input === 'string') feed(child, input);
  const output = [collect(child.stdout, options.onStdout), collect(child.stderr, options.onStderr)];
  const done = ended.then(async (end) => {
    // The rest of the group first: then the pipes end, unless a process that has left the group holds them open.
    killGroup(pid, 'SIGKILL');
    await options.sweep?.();
    await Promise.all(output.map((drain) => drain()));
    return end;
  });
  done.catch(() => undefined);
  return {
    pid,
    done,
    stop: async (graceMs) => {
      killGroup(pid, graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
      const over = done.then(
        () => true,
        () => true,
      );
      if (!(await within(graceMs, over))) killGroup(pid, 'SIGKILL');
      await over;
    },
  };
}

interface DaemonOptions extends Common {
  /** An open file descriptor that takes stdout and stderr. */
  readonly output: number;
}

/** A process that may outlive this one, in a group of its own. The end of its stdin tells it that this process has ended. */
export function startDaemon(file: string, args: readonly string[], options: DaemonOptions): ChildProcess {
  const child = spawnGroup(file, args, options, ['pipe', options.output, options.output]);
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  return child;
}

/** A process with which one talks for as long as it lives, in a group of its own. Its end is `endOf`; nothing is read before. */
export function startTalk(file: string, args: readonly string[], options: Common): TalkingProcess {
  const child = spawnGroup(file, args, options, ['pipe', 'pipe', 'pipe']);
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  if (child.stdin === null || child.stdout === null || child.stderr === null)
    throw notStarted(file, new Error('it has no pipes'));
  return child as TalkingProcess;
}

/** Resolves when a child has ended; rejects only when it could not be started. */
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

/** Signals a process, or a group by its negative number; false when there is none. */
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
  // A program that does not read its input closes the pipe, which is no error.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
}

/**
 * Passes on what comes. Returns a function that waits until the stream has ended or is silent, and closes it. A process
 * that could not be started for lack of descriptors has no streams at all, whatever the types say.
 */
function collect(stream: Readable | null | undefined, onText?: (text: string) => void): () => Promise<void> {
  if (stream == null) return () => Promise.resolve();
  let chunks = 0;
  const ended = new Promise<void>((resolve) => {
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    chunks += 1;
    onText?.(text);
    // One piece in each turn of the event loop: a flood of output must not starve timers.
    stream.pause();
    setImmediate(() => stream.resume());
  });
  return async () => {
    for (let [round, seen] = [0, -1]; round < DRAIN_ROUNDS && !stream.closed && seen !== chunks; round++) {
      seen = chunks;
      await within(DRAIN_MS, ended);
      // After a stall of this process the timer fires before waiting output is read: one turn for reading.
      await new Promise((resolve) => setImmediate(resolve));
    }
    stream.destroy();
  };
}

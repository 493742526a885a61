import { StringDecoder } from 'node:string_decoder';
import type { z } from 'zod';
import type * as bodies from './bodies.ts';
import type { Executed, Sessions, Stream } from '../sandbox/index.ts';
import { exitCode, megabytes } from './program-end.ts';

const DEFAULT_TIMEOUT_S = 600;

type ExecWish = Parameters<Sessions['prepare']>[1];
export type ReadyWish = Parameters<Sessions['exec']>[1];

export function wishOf(body: z.infer<typeof bodies.exec>): ExecWish {
  return {
    command: body.command,
    timeoutMs: (body.timeout_s ?? DEFAULT_TIMEOUT_S) * 1000,
    resetCwd: body.reset_cwd ?? false,
    env: body.env ?? {},
    envFile: body.env_file,
  };
}

interface Wanted {
  readonly wish: ReadyWish;
  /** Fires when the client has gone; the command is then ended. */
  readonly gone: AbortSignal;
}

export async function runUntilGone(
  sessions: Sessions,
  id: string,
  { wish, gone }: Wanted,
  sink: Parameters<Sessions['exec']>[2],
): Promise<Executed> {
  gone.throwIfAborted();
  const running = sessions.exec(id, wish, sink);
  const kill = (): void => void sessions.kill(id).catch(() => undefined);
  gone.addEventListener('abort', kill, { once: true });
  try {
    return await running;
  } finally {
    // What runs from now on may be another client's.
    gone.removeEventListener('abort', kill);
  }
}

interface Reader {
  /** Takes text that is never cut within a character. While its promise is pending, the program is slowed down. */
  send(stream: Stream, text: string): Promise<void>;
  readonly gone: AbortSignal;
}

/** Runs a command, and sends its output to the reader as it comes. */
export async function runForReader(
  sessions: Sessions,
  id: string,
  wish: ReadyWish,
  { send, gone }: Reader,
): Promise<z.infer<typeof bodies.execEnd>> {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const end = await runUntilGone(sessions, id, { wish, gone }, (stream, bytes) => {
    const text = decoders[stream].write(bytes);
    return text === '' ? undefined : send(stream, text);
  });
  for (const stream of ['stdout', 'stderr'] as const) {
    const rest = decoders[stream].end();
    if (rest !== '') await send(stream, rest);
  }
  return endOf(end);
}

export function endOf(end: Executed): z.infer<typeof bodies.execEnd> {
  return {
    exit_code: exitCode(end),
    cwd: end.cwd,
    duration_ms: Math.round(end.durationMs),
    timed_out: end.endedBy === 'timeout',
    killed: end.endedBy === 'killed',
    cpu_ms: Math.round(end.cpuMs * 10) / 10,
    memory_peak_mb: megabytes(end.peakBytes),
    out_of_memory: end.outOfMemory,
    workspace_lost: end.isWorkspaceNew,
  };
}

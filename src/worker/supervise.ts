import { killByEnvironment, randomId, startJob } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { MARKS } from '../protocol/index.ts';

export interface Supervised {
  readonly code: number | null;
  readonly signal: string | null;
  /** What brought it to its end. */
  readonly endedBy: 'itself' | 'total' | 'idle' | 'completion' | 'stopped';
}

interface SuperviseOptions {
  readonly cwd: string;
  readonly env: Environment;
  readonly input?: string;
  readonly onStdout: (text: string) => void;
  readonly onStderr: (text: string) => void;
  readonly totalMs: number;
  /** Longest silence; none when left out. */
  readonly idleMs?: number;
  /** After the job has said its last word, it has this long to end, counted from its last output. */
  readonly completion?: { readonly ms: number; readonly reached: () => boolean };
  readonly graceMs: number;
  readonly stop: AbortSignal;
}

/** Runs a program under watch: whatever limit it meets, it and all it started are gone when this resolves. */
export async function supervise(file: string, args: readonly string[], options: SuperviseOptions): Promise<Supervised> {
  let endedBy: Supervised['endedBy'] = 'itself';
  let over = false;
  const end = (why: Supervised['endedBy']): void => {
    if (over) return;
    over = true;
    endedBy = why;
    void job.stop(options.graceMs);
  };
  let quiet: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearTimeout(quiet);
    if (options.completion?.reached()) {
      quiet = setTimeout(() => end('completion'), options.completion.ms);
    } else if (options.idleMs !== undefined) {
      quiet = setTimeout(() => end('idle'), options.idleMs);
    }
  };
  const mark = randomId();
  const job = startJob(file, args, {
    cwd: options.cwd,
    env: { ...options.env, [MARKS.child]: mark },
    ...(options.input === undefined ? {} : { input: options.input }),
    onStdout: (text) => {
      options.onStdout(text);
      heard();
    },
    onStderr: (text) => {
      options.onStderr(text);
      heard();
    },
  });
  heard();
  const total = setTimeout(() => end('total'), options.totalMs);
  const stopped = (): void => end('stopped');
  options.stop.addEventListener('abort', stopped, { once: true });
  if (options.stop.aborted) stopped();
  try {
    const { code, signal } = await job.done;
    over = true;
    // What has left the job's process group would go on writing into the next task's worktree.
    await killByEnvironment(MARKS.child, mark);
    return { code, signal, endedBy };
  } finally {
    clearTimeout(quiet);
    clearTimeout(total);
    options.stop.removeEventListener('abort', stopped);
  }
}

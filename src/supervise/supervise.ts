import { killByEnvironment, randomId, startJob, startTimer } from '../lib/index.ts';
import type { Environment, Job, Timer } from '../lib/index.ts';
import { MARKS } from '../protocol/index.ts';
import { alone, endAllOthers } from './alone.ts';
import type { Exceeded } from './exceeded.ts';
import { fileSizeExceeded } from './file-size.ts';
import { expendable, memoryExceeded, readOomKills } from './memory.ts';
import { processesExceeded, readProcessRecord } from './process-limit.ts';

export interface Supervised {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it has ended: by itself, by which of our limits, or because it was stopped. */
  readonly endedBy: 'itself' | 'total' | 'idle' | 'completion' | 'stopped';
  /** Limits of the container that it has reached. Known only when there is no other job in the container. */
  readonly exceeded: readonly Exceeded[];
  readonly durationMs: number;
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
  /** Once `reached`, the job has this long to end, counted from its last output. */
  readonly completion?: { readonly ms: number; readonly reached: () => boolean };
  /** Asked after each output: whether the job is ended at once, as nothing can come of it. */
  readonly hopeless?: () => boolean;
  readonly graceMs: number;
  readonly stop: AbortSignal;
}

/** Runs a program under limits. It and all that it started have ended when this resolves. */
export async function supervise(file: string, args: readonly string[], options: SuperviseOptions): Promise<Supervised> {
  const started = performance.now();
  const limits = watchLimits(options, () => void job.stop(options.graceMs));
  const mark = randomId();
  const heard =
    (take: (text: string) => void) =>
    (text: string): void => {
      take(text);
      limits.heard();
    };
  const exceededSince = alone ? watchExceeded() : undefined;
  const command = alone ? expendable(file, args) : { file, args };
  const job: Job = startJob(command.file, command.args, {
    cwd: options.cwd,
    env: { ...options.env, [MARKS.child]: mark },
    ...(options.input === undefined ? {} : { input: options.input }),
    onStdout: heard(options.onStdout),
    onStderr: heard(options.onStderr),
    sweep: async () => {
      limits.close();
      // A process that has left the job's process group could write to the files of the next job.
      await (alone ? endAllOthers() : killByEnvironment(MARKS.child, mark));
    },
  });
  limits.begin();
  try {
    const { code, signal } = await job.done;
    const endedBy = limits.met();
    const wasKilled = endedBy === 'itself' && (signal === 'SIGKILL' || code === 137);
    const exceeded = exceededSince?.({ code, signal, wasKilled }) ?? [];
    return { code, signal, endedBy, exceeded, durationMs: Math.round(performance.now() - started) };
  } finally {
    limits.close();
  }
}

/** Reads the counters of the container. The returned function compares them with those at the end of the job. */
function watchExceeded(): (end: Pick<Supervised, 'code' | 'signal'> & { wasKilled: boolean }) => Exceeded[] {
  const [memory, processes] = [readOomKills(), readProcessRecord()];
  return ({ wasKilled, ...end }) => {
    const found = [
      memoryExceeded(memory, readOomKills(), wasKilled),
      processesExceeded(processes, readProcessRecord()),
      fileSizeExceeded(end),
    ];
    return found.filter((exceeded) => exceeded !== undefined);
  };
}

/** Calls `end` once, when the first of the job's limits is reached. */
function watchLimits(options: SuperviseOptions, end: () => void) {
  let met: Supervised['endedBy'] = 'itself';
  let over = false;
  let quiet: Timer | undefined;
  let total: Timer | undefined;
  const meet = (why: Supervised['endedBy']): void => {
    if (over) return;
    over = true;
    met = why;
    end();
  };
  const heard = (): void => {
    quiet?.cancel();
    if (over) return;
    if (options.hopeless?.() === true) return meet('completion');
    if (options.completion?.reached()) {
      quiet = startTimer(options.completion.ms, () => meet('completion'));
    } else if (options.idleMs !== undefined) {
      quiet = startTimer(options.idleMs, () => meet('idle'));
    }
  };
  const stopped = (): void => meet('stopped');
  return {
    begin: () => {
      heard();
      total = startTimer(options.totalMs, () => meet('total'));
      options.stop.addEventListener('abort', stopped, { once: true });
      if (options.stop.aborted) stopped();
    },
    /** The job has printed something. */
    heard,
    /** The limit that was reached first. */
    met: () => met,
    /** From here on no limit counts. */
    close: () => {
      over = true;
      quiet?.cancel();
      total?.cancel();
      options.stop.removeEventListener('abort', stopped);
    },
  };
}

import { killByEnvironment, randomId, startJob, startTimer } from '../lib/index.ts';
import type { Environment, Job, Timer } from '../lib/index.ts';
import { MARKS } from '../protocol/index.ts';
import { alone, endAllOthers } from './alone.ts';
import { fileSizeTrouble } from './file-size.ts';
import { expendable, memoryTrouble, readOomKills } from './memory.ts';
import { processTrouble, readProcessRecord } from './process-limit.ts';

export interface Supervised {
  readonly code: number | null;
  readonly signal: string | null;
  /** What brought it to its end. */
  readonly endedBy: 'itself' | 'total' | 'idle' | 'completion' | 'stopped';
  /** In a container: which of its limits it has met, in words. */
  readonly trouble: string | undefined;
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
  const limits = watchLimits(options, () => void job.stop(options.graceMs));
  const mark = randomId();
  const heard =
    (take: (text: string) => void) =>
    (text: string): void => {
      take(text);
      limits.heard();
    };
  const troubleSince = alone ? watchTroubles() : undefined;
  const command = alone ? expendable(file, args) : { file, args };
  const job: Job = startJob(command.file, command.args, {
    cwd: options.cwd,
    env: { ...options.env, [MARKS.child]: mark },
    ...(options.input === undefined ? {} : { input: options.input }),
    onStdout: heard(options.onStdout),
    onStderr: heard(options.onStderr),
    sweep: async () => {
      limits.close();
      // What has left the job's process group would go on writing into the next task's worktree.
      await (alone ? endAllOthers() : killByEnvironment(MARKS.child, mark));
    },
  });
  limits.begin();
  try {
    const { code, signal } = await job.done;
    const endedBy = limits.met();
    const wasKilled = endedBy === 'itself' && (signal === 'SIGKILL' || code === 137);
    return { code, signal, endedBy, trouble: troubleSince?.({ code, signal, wasKilled }) };
  } finally {
    limits.close();
  }
}

/** From now on: what a job then has met of the container's own limits. */
function watchTroubles(): (end: Pick<Supervised, 'code' | 'signal'> & { wasKilled: boolean }) => string | undefined {
  const [memory, processes] = [readOomKills(), readProcessRecord()];
  return ({ wasKilled, ...end }) => {
    const troubles = [
      memoryTrouble(memory, readOomKills(), wasKilled),
      processTrouble(processes, readProcessRecord()),
      fileSizeTrouble(end),
    ];
    return troubles.filter((text) => text !== undefined).join('; ') || undefined;
  };
}

interface LimitWatch {
  begin(): void;
  /** The job has said something. */
  heard(): void;
  /** Which limit was met first, if any. */
  met(): Supervised['endedBy'];
  /** From here on no limit counts. */
  close(): void;
}

/** Calls `end` once, when the first of the job's limits is met. */
function watchLimits(options: SuperviseOptions, end: () => void): LimitWatch {
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
    heard,
    met: () => met,
    close: () => {
      over = true;
      quiet?.cancel();
      total?.cancel();
      options.stop.removeEventListener('abort', stopped);
    },
  };
}

import { createTail, reasonOf, startJob, startTalk, startTimer } from '../../lib/index.ts';
import type { AppError, Environment, TalkingProcess } from '../../lib/index.ts';
import { engineErrors } from '../errors.ts';
import { isStopped, reasonIn } from './complaints.ts';

/** The program may hang for ever, so that every call has a limit. */
export interface Limits {
  readonly quickMs: number;
  readonly slowMs: number;
  /** For builds and downloads. */
  readonly longMs: number;
}

export const USUAL_LIMITS: Limits = { quickMs: 60_000, slowMs: 300_000, longMs: 3_600_000 };

/** More than a list of thousands of containers has. */
const LARGEST_ANSWER = 16_777_216;
const KEPT_COMPLAINT = 16_384;

/** One run of the program. */
export interface Call {
  /** In words that follow "could not": "start container web". */
  readonly what: string;
  readonly args: readonly string[];
  readonly takes?: 'slow' | 'long';
  readonly signal?: AbortSignal | undefined;
  /** Takes the output as it comes; the answer is then empty. */
  readonly onText?: (text: string) => void;
}

export interface Answer {
  /** Null when a signal has ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Apple's program `container`. */
export interface Cli {
  /** The path of the program. */
  readonly place: string;
  readonly limits: Limits;
  /** What it answers, also when that is a refusal. */
  ask(call: Call): Promise<Answer>;
  /** Its stdout; a refusal is thrown. */
  tell(call: Call): Promise<string>;
  /** A run of the program for as long as a program in a container lives. */
  talk(args: readonly string[], env?: Environment): TalkingProcess;
}

export function openCli(place: string, env: Environment, limits: Limits): Cli {
  const at = { place, env, limits };
  const ask = (call: Call): Promise<Answer> => run(at, call);
  return {
    place,
    limits,
    ask,
    tell: async (call) => {
      const answer = await ask(call);
      if (answer.code !== 0) throw refusal(call, answer, place);
      return answer.stdout;
    },
    talk: (args, more = {}) => startTalk(place, args, { cwd: '/', env: { ...env, ...more } }),
  };
}

/** The program has answered, and refuses. */
export function refusal({ what }: Pick<Call, 'what'>, { code, stderr }: Answer, place: string): AppError {
  if (isStopped(stderr)) return engineErrors.ENGINE_UNREACHABLE({ tried: [stoppedAt(place)] });
  return engineErrors.ENGINE_FAILED({ call: what, reason: reasonIn(stderr, code) });
}

export const stoppedAt = (place: string): string =>
  `${place}: its services are not running; start them with: container system start`;

interface Place {
  readonly place: string;
  readonly env: Environment;
  readonly limits: Limits;
}

async function run({ place, env, limits }: Place, call: Call): Promise<Answer> {
  const { what, signal, takes } = call;
  signal?.throwIfAborted();
  const waitedMs = { quick: limits.quickMs, slow: limits.slowMs, long: limits.longMs }[takes ?? 'quick'];
  const collected = collector(call);
  let ended: AppError | undefined;
  const end = (error: AppError): void => {
    ended ??= error;
    void job.stop(0);
  };
  const job = startJob(place, call.args, {
    cwd: '/',
    env,
    onStdout: (text) => {
      if (!collected.take(text)) end(engineErrors.ENGINE_FAILED({ call: what, reason: 'its answer has no end' }));
    },
    onStderr: collected.complain,
  });
  const timer = startTimer(waitedMs, () => end(engineErrors.ENGINE_TIMEOUT({ call: what, place, waitedMs })));
  const abort = (): void => void job.stop(0);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const { code } = await job.done.catch((error: unknown) => {
      throw engineErrors.ENGINE_UNREACHABLE({ tried: [`${place}: ${reasonOf(error)}`] }, { cause: error });
    });
    signal?.throwIfAborted();
    if (ended !== undefined) throw ended;
    return { code, ...collected.texts() };
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', abort);
  }
}

function collector({ onText }: Call): {
  /** False when it is too much. */
  take(text: string): boolean;
  complain(text: string): void;
  texts(): Pick<Answer, 'stdout' | 'stderr'>;
} {
  const parts: string[] = [];
  let size = 0;
  const complaint = createTail(KEPT_COMPLAINT);
  return {
    take: (text) => {
      if (onText !== undefined) onText(text);
      else {
        size += text.length;
        if (size <= LARGEST_ANSWER) parts.push(text);
      }
      return size <= LARGEST_ANSWER;
    },
    complain: (text) => {
      onText?.(text);
      complaint.push(text);
    },
    texts: () => ({ stdout: parts.join(''), stderr: complaint.text() }),
  };
}

import { mkdtemp, realpath, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CodeRan, CodeWish } from '../code/index.ts';
import { enter } from '../lib/index.ts';
import type { Environment, Places } from '../lib/index.ts';
import { captureOutput } from '../sandbox/index.ts';
import { supervise } from '../supervise/index.ts';
import type { Supervised } from '../supervise/index.ts';
import { childCommand, findBound, findOwnBytes } from './child-command.ts';
import type { ChildFacts } from './child-command.ts';
import { preloadErrors } from './errors.ts';
import type { ChildRequest } from './request.ts';

/** Programs at a time, and how many wait. */
const MOST = { running: 4, waiting: 64, busy: (waiting: number): Error => preloadErrors.PRELOAD_BUSY({ waiting }) };
/** What V8 prints before it ends a process that has no more memory. */
const OUT_OF_MEMORY = /^FATAL ERROR: .*(out of memory|Allocation failed)/m;

interface PreloadSettings {
  readonly program: string;
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly env: Environment;
}

/** Runs code in processes of this machine, each with its doors closed and for one call alone. There are no sessions. */
export async function openPreload({ program, memoryBytes, outputBytes, env }: PreloadSettings) {
  const bound = await findBound({ PATH: env['PATH'] });
  const node = process.execPath;
  const facts = { node, program: await realpath(program), memoryBytes, ownBytes: await findOwnBytes(node), bound };
  const places: Places = { running: 0, waiting: [] };
  const closing = new AbortController();
  const running = new Set<Promise<CodeRan>>();
  const runInTurn = async (wish: CodeWish, signal: AbortSignal): Promise<CodeRan> => {
    const leave = await enter(places, MOST, signal);
    try {
      return await runOnce(facts, wish, { outputBytes, signal });
    } finally {
      leave();
    }
  };
  return {
    /** Throws PRELOAD_BUSY. */
    run: (_session: string, wish: CodeWish, { signal }: { readonly signal: AbortSignal }): Promise<CodeRan> => {
      const ran = runInTurn(wish, AbortSignal.any([signal, closing.signal]));
      running.add(ran);
      return ran.finally(() => running.delete(ran));
    },
    reset: (): Promise<boolean> => Promise.resolve(false),
    /** Ends what runs. */
    closeAll: async (): Promise<void> => {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

interface Surroundings {
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

async function runOnce(facts: ChildFacts, wish: CodeWish, { outputBytes, signal }: Surroundings): Promise<CodeRan> {
  const output = captureOutput(outputBytes);
  const folder = await mkdtemp(path.join(await realpath(tmpdir()), 'mahabharatha-code-'));
  const { file, args } = childCommand(facts, { folder, timeoutMs: wish.timeoutMs });
  try {
    const end = await supervise(file, args, {
      cwd: folder,
      env: {},
      input: JSON.stringify(wish satisfies ChildRequest),
      onStdout: (text) => void output.sink('stdout', Buffer.from(text)),
      onStderr: (text) => void output.sink('stderr', Buffer.from(text)),
      totalMs: wish.timeoutMs,
      graceMs: 0,
      stop: signal,
    });
    return asRan(end, output);
  } finally {
    // It is empty, as the code cannot write. What somebody else has put there stays, and so does the result.
    await rmdir(folder).catch(() => undefined);
  }
}

const ENDED_BY = {
  itself: 'itself',
  total: 'timeout',
  stopped: 'killed',
  idle: 'timeout',
  completion: 'timeout',
} as const;

function asRan({ code, signal, endedBy, durationMs }: Supervised, output: ReturnType<typeof captureOutput>): CodeRan {
  const [stdout, stderr] = [output.text('stdout'), output.text('stderr')];
  const outOfMemory = signal !== null && OUT_OF_MEMORY.test(stderr.text);
  return {
    code,
    signal,
    endedBy: ENDED_BY[endedBy],
    problem: null,
    durationMs,
    outOfMemory,
    stdout,
    stderr,
    packages: [],
  };
}

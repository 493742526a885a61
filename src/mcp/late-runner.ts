import { engineErrors } from '../engines/errors.ts';
import { hasCode, libErrors } from '../lib/index.ts';
import type { CallHooks } from '../code/index.ts';
import type { CodeRunner, RunnerPackages } from './code-runner.ts';

export type Closing = (() => Promise<unknown>)[];
type Tell = CallHooks['onProgress'];

/** Where code is to run. */
export interface Place {
  readonly mode: CodeRunner['mode'];
  /** Makes what code runs in, when it is missing: that may take minutes. `signal` calls it off. */
  readonly prepare: (tell: Tell, signal: AbortSignal) => Promise<Open>;
}

/** `closing` gets the steps that end it. */
type Open = (closing: Closing) => Promise<CodeRunner>;

export interface LateRunner extends CodeRunner {
  /** Resolves when code can run. After a failure the next call begins again. */
  ready(): Promise<unknown>;
  close(): Promise<void>;
}

/** A runner that is opened in the background: a client need not wait for it with its first words. */
export function openLate(place: Place): LateRunner {
  const over = new AbortController();
  const listeners = createListeners();
  const prepare = shared(() => {
    over.signal.throwIfAborted();
    return place.prepare(listeners.tell, over.signal).finally(listeners.forget);
  });
  const closing: Closing = [];
  let opening: Promise<CodeRunner> | undefined;
  const ready = (): Promise<CodeRunner> => {
    if (opening !== undefined) return opening;
    const begun = openNow(prepare, over.signal, closing);
    opening = begun;
    begun.catch(() => (opening = undefined));
    return begun;
  };
  const using: Using = async (hooks, work) => {
    const runner = await listeners.during(hooks, ready);
    try {
      return await work(runner);
    } catch (error) {
      if (!hasCode(error, engineErrors.IMAGE_MISSING)) throw error;
      // Somebody has removed it since this program has begun.
      await listeners.during(hooks, prepare);
      return work(runner);
    }
  };
  return {
    mode: place.mode,
    ready,
    run: (session, wish, hooks) => using(hooks, (runner) => runner.run(session, wish, hooks)),
    packages: place.mode === 'container' ? latePackages(using) : null,
    reset: async (session) => (await opening?.catch(() => undefined))?.reset(session) ?? false,
    close: async () => {
      over.abort();
      await opening?.catch(() => undefined);
      await closeAll(closing);
    },
  };
}

/** Works with the runner when it is there. */
type Using = <Result>(hooks: CallHooks, work: (runner: CodeRunner) => Promise<Result>) => Promise<Result>;

function latePackages(using: Using): RunnerPackages {
  return {
    install: (session, requests, hooks) =>
      using(hooks, (runner) => packagesOf(runner).install(session, requests, hooks)),
    list: (session, hooks) => using(hooks, (runner) => packagesOf(runner).list(session, hooks)),
  };
}

function packagesOf({ packages }: CodeRunner): RunnerPackages {
  if (packages === null) throw libErrors.INTERNAL({ what: 'a runner has no packages, against its word' });
  return packages;
}

/** What a failed start has opened is closed at once. */
async function openNow(prepare: () => Promise<Open>, signal: AbortSignal, closing: Closing): Promise<CodeRunner> {
  const own: Closing = [];
  try {
    const open = await prepare();
    signal.throwIfAborted();
    const runner = await open(own);
    // It may open more while it is there.
    closing.push(() => closeAll(own));
    return runner;
  } catch (error) {
    await closeAll(own).catch(() => undefined);
    throw error;
  }
}

/** One after the other, from the last to the first; the first failure is thrown when all are done. */
export async function closeAll(steps: Closing): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps.splice(0).toReversed()) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Who asks while the work goes on gets its result. */
function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= work().finally(() => (running = undefined));
    return running;
  };
}

/** Calls that wait for something that is done for all of them. */
function createListeners() {
  const listeners = new Set<Tell>();
  let last: string | undefined;
  return {
    tell: (text: string): void => {
      last = text;
      for (const listener of listeners) listener(text);
    },
    forget: (): void => {
      last = undefined;
    },
    during: async <Result>({ signal, onProgress }: CallHooks, work: () => Promise<Result>): Promise<Result> => {
      listeners.add(onProgress);
      if (last !== undefined) onProgress(last);
      try {
        return await unlessAborted(work(), signal);
      } finally {
        listeners.delete(onProgress);
      }
    },
  };
}

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

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
  readonly prepare: (tell: Tell, signal: AbortSignal) => Promise<Prepared>;
}

interface Prepared {
  /** What an open runner keeps of it: when it is another one, the runner has to be opened again. */
  readonly from: string;
  /** `closing` gets the steps that end it. */
  readonly open: (closing: Closing) => Promise<CodeRunner>;
}

interface Opened {
  readonly from: string;
  readonly runner: CodeRunner;
  readonly close: () => Promise<void>;
}

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
  const { ready, again, current } = createOpening(prepare, over.signal);
  const using: Using = async (hooks, work) => {
    const used = await listeners.during(hooks, ready);
    try {
      return await work(used.runner);
    } catch (error) {
      if (!hasCode(error, engineErrors.IMAGE_MISSING)) throw error;
      const { runner } = await listeners.during(hooks, () => again(used));
      return work(runner);
    }
  };
  return {
    mode: place.mode,
    ready,
    run: (session, wish, hooks) => using(hooks, (runner) => runner.run(session, wish, hooks)),
    packages: place.mode === 'container' ? latePackages(using) : null,
    reset: async (session) => (await current())?.runner.reset(session) ?? false,
    close: async () => {
      over.abort();
      await (await current())?.close();
    },
  };
}

/** One runner at a time. */
function createOpening(prepare: () => Promise<Prepared>, signal: AbortSignal) {
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  const begin = (begun: Promise<Opened>): Promise<Opened> => {
    opening = begun;
    opened = undefined;
    begun.then(
      (done) => (opened = done),
      () => (opening = undefined),
    );
    return begun;
  };
  const ready = (): Promise<Opened> => opening ?? begin(prepare().then((prepared) => openNow(prepared, signal)));
  return {
    ready,
    /** When somebody has removed an image since `used` was opened. */
    again: async (used: Opened): Promise<Opened> => {
      const prepared = await prepare();
      if (prepared.from === used.from) return used;
      if (opened !== used) return ready();
      return begin(used.close().then(() => openNow(prepared, signal)));
    },
    /** Undefined when there is none. */
    current: async (): Promise<Opened | undefined> => opening?.catch(() => undefined),
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
async function openNow({ from, open }: Prepared, signal: AbortSignal): Promise<Opened> {
  // It may open more while it is there.
  const closing: Closing = [];
  try {
    signal.throwIfAborted();
    const runner = await open(closing);
    return { from, runner, close: () => closeAll(closing) };
  } catch (error) {
    await closeAll(closing).catch(() => undefined);
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

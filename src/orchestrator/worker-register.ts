import { engineErrors } from '../engines/errors.ts';
import { hasCode, isPassing, reasonOf, repeated, sleep } from '../lib/index.ts';
import type { Launcher, WorkerHandle } from '../launchers/index.ts';
import { endOfExit, GONE } from './decide-losses.ts';
import type { WorkerEnd } from './decide-losses.ts';
import type { Ports } from './ports.ts';

/** The workers that this process has started or taken over: which live, and how the others ended. */
export interface WorkerRegister {
  /** Counts as alive while it is being started; resolves with the handle, which is then registered, or with why there is none. */
  expect(session: string, start: () => Promise<WorkerHandle>): Promise<WorkerHandle | string>;
  /** Registers a worker: waits for its end, and watches its mail. */
  hold(handle: WorkerHandle): void;
  /** How the worker of this session ended; undefined while it lives. A session that is not registered counts as gone. */
  exitOf(session: string): WorkerEnd | undefined;
  /** What workers run on is gone, or the machine has run out of something: none can be started or asked about. */
  readonly outage: string | undefined;
  lastWords(session: string, lines: number): Promise<string[]>;
  /** May be given an attempt that asks an agent; one that is being started will be. */
  takesCredentials(session: string): boolean;
  /** For the agent of this attempt alone; one that is being started gets it as soon as it is there. */
  giveCredentials(session: string, attempt: string): void;
  /**
   * Kills one; resolves when it is gone. A start under way is waited for: the worker may be at work already. When the
   * signal fires, it is killed all the same, but not waited for. Rejects when it may live on.
   */
  end(session: string, signal: AbortSignal): Promise<void>;
  /**
   * Ends all that are registered or being started; resolves when neither they nor what they started is left. One that
   * cannot be ended, or whose start takes too long, counts as gone: the others are ended all the same, and the sweep
   * removes what is left.
   */
  stopAll(graceMs: number): Promise<void>;
}

/** How long the end of all waits for a start that is still under way. */
const STARTING_MS = 15_000;

export function createWorkerRegister(
  ports: Pick<Ports, 'launcher' | 'mail'>,
  onSign: () => void,
  startingMs = STARTING_MS,
): WorkerRegister {
  const known = createLives();
  const { starting, handles, exits } = known;

  const hold = (handle: WorkerHandle): void => {
    handles.set(handle.session, handle);
    const watch = ports.mail.watch(handle.worker, onSign);
    const note = (end: WorkerEnd): void => {
      exits.set(handle.session, end);
      known.gone.add(handle.session);
      watch.close();
      onSign();
    };
    ports.launcher.wait(handle).then(
      (exit) => note(endOfExit(exit)),
      (error: unknown) => note(known.failure(error)),
    );
  };

  const begin = async (session: string, start: () => Promise<WorkerHandle>): Promise<WorkerHandle | string> => {
    try {
      // A start that failed has left nothing: the worker's folders are made anew.
      const handle = await repeated(start);
      hold(handle);
      // `end` waits for it and ends it; for all others it has never started.
      return known.ended.has(session) ? 'it was ended while it was being started' : handle;
    } catch (error) {
      const how = `it could not be started: ${known.failure(error).how}`;
      exits.set(session, { how, overLimit: false });
      return how;
    } finally {
      starting.delete(session);
      onSign();
    }
  };

  const end = async (session: string, graceMs: number): Promise<void> => {
    known.ended.add(session);
    await starting.get(session);
    const handle = handles.get(session);
    if (handle !== undefined && !known.gone.has(session)) await ports.launcher.stop(handle, { graceMs });
  };

  return {
    hold,
    expect: (session, start) => {
      const begun = begin(session, start);
      starting.set(session, begun);
      return begun;
    },
    exitOf: known.exitOf,
    get outage() {
      return known.outage;
    },
    ...credentialsOf(ports.launcher, known),
    lastWords: (session, lines) => lastWords(ports.launcher, handles.get(session), lines),
    end: (session, signal) => orAborted(end(session, 0), signal),
    stopAll: (graceMs) => endAll(known, (session) => end(session, graceMs), startingMs + graceMs),
  };
}

/** What is known of each session. */
interface Lives {
  readonly starting: Map<string, Promise<unknown>>;
  readonly handles: Map<string, WorkerHandle>;
  readonly exits: Map<string, WorkerEnd>;
  /** Those that were asked to end, also before they had begun. */
  readonly ended: Set<string>;
  /** Those whose end the launcher has reported: nothing is left of them. */
  readonly gone: Set<string>;
  readonly outage: string | undefined;
  exitOf(session: string): WorkerEnd | undefined;
  failure(error: unknown): WorkerEnd;
}

function createLives(): Lives {
  const starting = new Map<string, Promise<unknown>>();
  const handles = new Map<string, WorkerHandle>();
  const exits = new Map<string, WorkerEnd>();
  let outage: string | undefined;
  return {
    starting,
    handles,
    exits,
    ended: new Set(),
    gone: new Set(),
    get outage() {
      return outage;
    },
    exitOf: (session) => {
      if (starting.has(session)) return undefined;
      return exits.get(session) ?? (handles.has(session) ? undefined : GONE);
    },
    failure: (error) => {
      if (hasCode(error, engineErrors.ENGINE_UNREACHABLE) || isPassing(error)) outage ??= reasonOf(error);
      return { how: reasonOf(error), overLimit: false };
    },
  };
}

function credentialsOf(
  launcher: Launcher,
  { starting, handles }: Lives,
): Pick<WorkerRegister, 'takesCredentials' | 'giveCredentials'> {
  return {
    takesCredentials: (session) => {
      const handle = handles.get(session);
      return starting.has(session) || (handle !== undefined && launcher.takesCredentials(handle));
    },
    giveCredentials: (session, attempt) => {
      const give = (): void => {
        const handle = handles.get(session);
        if (handle !== undefined) launcher.giveCredentials(handle, attempt);
      };
      const begun = starting.get(session);
      if (begun === undefined) give();
      else void begun.then(give);
    },
  };
}

/** Ends the live ones at once; those that are being started within the limit. */
async function endAll(known: Lives, end: (session: string) => Promise<void>, limitMs: number): Promise<void> {
  const { starting, handles, exits } = known;
  const one = (session: string): Promise<unknown> =>
    end(session).catch((error: unknown) => exits.set(session, known.failure(error)));
  const pending = [...starting.keys()];
  const begun = Promise.all(pending.map(one));
  const live = [...handles.keys()].filter((session) => !exits.has(session) && !starting.has(session));
  const over = new AbortController();
  await Promise.all([Promise.race([begun, sleep(limitMs, over.signal)]), ...live.map(one)]);
  over.abort();
  for (const session of pending) {
    if (starting.delete(session)) exits.set(session, { how: 'its start took too long to wait for', overLimit: false });
  }
}

/** Resolves or rejects with the work; resolves also when the signal fires, and the work goes on. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    over.abort();
  }
}

async function lastWords(launcher: Launcher, handle: WorkerHandle | undefined, lines: number): Promise<string[]> {
  if (handle === undefined) return [];
  return (await launcher.logs(handle, lines).catch(() => [])).map(wordsOf);
}

/** Log lines are JSON; what a program prints as it dies is not. */
function wordsOf(line: string): string {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string')
      return value.text;
  } catch {
    // Not JSON: shown as it is.
  }
  return line.slice(0, 300);
}

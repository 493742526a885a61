import { hasCode, reasonOf } from '../lib/index.ts';
import type { Launcher, WorkerExit, WorkerHandle } from '../launchers/index.ts';
import type { Ports } from './ports.ts';

/** The workers this process holds: who is there, and how those ended that are not. */
export interface Hands {
  /** Counts as alive while it is being started; resolves with the handle, which is then held, or with why there is none. */
  expect(session: string, start: () => Promise<WorkerHandle>): Promise<WorkerHandle | string>;
  /** Keeps hold of a worker and listens to its outbox. */
  hold(handle: WorkerHandle): void;
  /** How the worker of this session ended; undefined while it lives. A session that is not held counts as gone. */
  exitOf(session: string): WorkerEnd | undefined;
  /** What workers run on is gone: none can be started or asked about. */
  readonly outage: string | undefined;
  handleOf(session: string): WorkerHandle | undefined;
  lastWords(session: string, lines: number): Promise<string[]>;
  /**
   * Ends all that are held or being started; resolves when none of them, nor anything they started, is left. One that
   * cannot be ended counts as gone: it keeps nobody from ending the others, and the sweep looks again.
   */
  stopAll(graceMs: number): Promise<void>;
}

/** The end of a worker, in words. */
export interface WorkerEnd {
  readonly how: string;
  /** It went beyond a limit: its task's own doing. */
  readonly overLimit: boolean;
}

export function createHands(ports: Pick<Ports, 'launcher' | 'watch' | 'store'>, onSign: () => void): Hands {
  const starting = new Map<string, Promise<unknown>>();
  const handles = new Map<string, WorkerHandle>();
  const exits = new Map<string, WorkerEnd>();
  let outage: string | undefined;
  const failure = (error: unknown): WorkerEnd => {
    if (hasCode(error, 'ENGINE_UNREACHABLE')) outage ??= reasonOf(error);
    return { how: reasonOf(error), overLimit: false };
  };

  const hold = (handle: WorkerHandle): void => {
    handles.set(handle.session, handle);
    const ears = ports.watch(ports.store.paths.worker(handle.worker).outbox, onSign);
    const note = (end: WorkerEnd): void => {
      exits.set(handle.session, end);
      ears.close();
      onSign();
    };
    ports.launcher.wait(handle).then(
      (exit) => note({ how: exitInWords(exit), overLimit: exit.overLimit !== undefined }),
      (error: unknown) => note(failure(error)),
    );
  };

  const begin = async (session: string, start: () => Promise<WorkerHandle>): Promise<WorkerHandle | string> => {
    try {
      const handle = await start();
      hold(handle);
      return handle;
    } catch (error) {
      const how = `it could not be started: ${failure(error).how}`;
      exits.set(session, { how, overLimit: false });
      return how;
    } finally {
      starting.delete(session);
      onSign();
    }
  };

  return {
    hold,
    expect: (session, start) => {
      const begun = begin(session, start);
      starting.set(session, begun);
      return begun;
    },
    exitOf: (session) => {
      if (starting.has(session)) return undefined;
      return exits.get(session) ?? (handles.has(session) ? undefined : { how: 'it is gone', overLimit: false });
    },
    get outage() {
      return outage;
    },
    handleOf: (session) => handles.get(session),
    lastWords: (session, lines) => lastWords(ports.launcher, handles.get(session), lines),
    stopAll: async (graceMs) => {
      await Promise.all(starting.values());
      const stop = (handle: WorkerHandle): Promise<unknown> =>
        ports.launcher.stop(handle, { graceMs }).catch((error) => exits.set(handle.session, failure(error)));
      await Promise.all([...handles.values()].filter(({ session }) => !exits.has(session)).map(stop));
    },
  };
}

function exitInWords({ code, signal, overLimit }: WorkerExit): string {
  if (overLimit !== undefined) return overLimit;
  if (signal !== null) return `killed by ${signal}`;
  return code === null ? 'it ended, nobody saw how' : `ended with exit status ${code}`;
}

async function lastWords(launcher: Launcher, handle: WorkerHandle | undefined, lines: number): Promise<string[]> {
  if (handle === undefined) return [];
  return (await launcher.logs(handle, lines).catch(() => [])).map(wordsOf);
}

/** Log lines are JSON; what a dying program prints is not. */
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

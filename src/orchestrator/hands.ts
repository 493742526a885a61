import type { WorkerExit, WorkerHandle } from '../launchers/index.ts';
import type { Ports } from './ports.ts';

/** The workers this process holds: who is there, and how those ended that are not. */
export interface Hands {
  /** Keeps hold of a worker and listens to its outbox. */
  hold(handle: WorkerHandle): void;
  /** How the worker of this session ended; undefined while it lives. A session that is not held counts as gone. */
  exitOf(session: string): string | undefined;
  handleOf(session: string): WorkerHandle | undefined;
  lastWords(session: string, lines: number): Promise<string[]>;
  /** Ends all that are held; resolves when none of them, nor anything they started, is left. */
  stopAll(graceMs: number): Promise<void>;
}

export function createHands(ports: Pick<Ports, 'launcher' | 'watch' | 'store'>, onSign: () => void): Hands {
  const handles = new Map<string, WorkerHandle>();
  const exits = new Map<string, string>();
  return {
    hold: (handle) => {
      handles.set(handle.session, handle);
      const ears = ports.watch(ports.store.paths.worker(handle.worker).outbox, onSign);
      const note = (how: string): void => {
        exits.set(handle.session, how);
        ears.close();
        onSign();
      };
      ports.launcher.wait(handle).then(
        (exit) => note(exitInWords(exit)),
        (error: unknown) => note(String(error)),
      );
    },
    exitOf: (session) => (handles.has(session) ? exits.get(session) : (exits.get(session) ?? 'it is gone')),
    handleOf: (session) => handles.get(session),
    lastWords: async (session, lines) => {
      const handle = handles.get(session);
      if (handle === undefined) return [];
      return (await ports.launcher.logs(handle, lines).catch(() => [])).map(wordsOf);
    },
    stopAll: async (graceMs) => {
      const live = [...handles.values()].filter(({ session }) => !exits.has(session));
      await Promise.all(live.map((handle) => ports.launcher.stop(handle, { graceMs })));
    },
  };
}

function exitInWords({ code, signal }: WorkerExit): string {
  if (signal !== null) return `killed by ${signal}`;
  return code === null ? 'it ended, nobody saw how' : `ended with exit status ${code}`;
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

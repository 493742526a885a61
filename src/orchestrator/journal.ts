import { repeated, systemCode } from '../lib/index.ts';
import type { NumberedEvent, RunEvent, RunState } from '../state/index.ts';
import type { Ports } from './ports.ts';
import { redactEvent } from './redact-event.ts';
import { advance, ownCopy } from './reduce.ts';

/** How old the snapshot may get while there is news. A snapshot per event would cost each task the size of all tasks. */
const SNAPSHOT_MS = 500;

/** Every event goes into the log and the live view; now and then their sum goes into the snapshot. */
export interface Journal {
  readonly state: RunState;
  record(event: RunEvent): void;
  /** Facts that are too frequent to be events. */
  heard(worker: number, at: string): void;
  /**
   * Resolves when everything recorded so far is on the disk: in the log, and in the snapshot if that is due. Files of
   * the run that others have removed are made again before, and a warning names them.
   */
  save(): Promise<void>;
  /** Resolves when the snapshot holds everything recorded so far. */
  checkpoint(): Promise<void>;
  /** When the snapshot is due, in ms from now; undefined while it holds everything. */
  readonly dueMs: number | undefined;
}

/** `redact` takes secrets out of every event. */
export function openJournal(
  ports: Pick<Ports, 'clock' | 'store' | 'emit'>,
  first: RunState,
  redact: (text: string) => string = (text) => text,
): Journal {
  let state = ownCopy(first);
  const unsaved: NumberedEvent[] = [];
  /** Undefined at first: the log may not have all that the first state is made of, so it is written at once. */
  let written: { readonly events: number; readonly at: number } | undefined;
  const dueMs = (): number | undefined => {
    if (written === undefined) return 0;
    // Heartbeats alone are not worth a write: readers find them where the workers write them.
    if (written.events === state.events) return undefined;
    return Math.max(0, written.at + SNAPSHOT_MS - ports.clock.monotonic());
  };
  const append = async (): Promise<void> => {
    const events = [...unsaved];
    await ports.store.append(events);
    unsaved.splice(0, events.length);
  };
  const write = async (): Promise<void> => {
    const { events } = state;
    await ports.store.write(state);
    written = { events, at: ports.clock.monotonic() };
  };
  const record = (event: RunEvent): void => {
    const at = new Date(ports.clock.now()).toISOString();
    const recorded: NumberedEvent = { seq: state.events + 1, at, ...redactEvent(event, redact) };
    state = advance(state, recorded);
    unsaved.push(recorded);
    ports.emit(recorded);
  };
  const saving = onFiles(ports.store, async (gone) => {
    record({ type: 'warning', text: goneInWords(gone) });
    // The log begins anew: all that it said before is in the snapshot by then.
    await write();
  });
  return {
    get state() {
      return state;
    },
    get dueMs() {
      return dueMs();
    },
    record,
    heard: (worker, at) => {
      const known = state.workers[worker];
      if (known !== undefined && known.heartbeatAt !== at) state.workers[worker] = { ...known, heartbeatAt: at };
    },
    save: saving(async () => {
      await append();
      if (dueMs() === 0) await write();
    }),
    checkpoint: saving(async () => {
      await append();
      if (written?.events !== state.events) await write();
    }),
  };
}

type Work = () => Promise<void>;

/** Does the work when the run's files are there: those that others have removed are made again before, and reported. */
function onFiles(store: Ports['store'], tell: (gone: readonly string[]) => Promise<void>): (work: Work) => Work {
  return (work) => () =>
    repeated(async () => {
      const gone = await store.restore();
      if (gone.length > 0) await tell(gone);
      await work();
    }, isRemoved);
}

/** Its folder was removed between the look and the write. */
function isRemoved(error: unknown): boolean {
  return systemCode(error instanceof Error ? error.cause : undefined) === 'ENOENT';
}

function goneInWords(files: readonly string[]): string {
  return (
    `removed from the repository while the run goes on, as git clean -x does it: ${files.join(', ')}; ` +
    'they have been made again and the state is whole, but what the logs said before is lost'
  );
}

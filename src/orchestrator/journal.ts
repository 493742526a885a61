import { repeated, systemCode } from '../lib/index.ts';
import type { NumberedEvent, RunEvent, RunState } from '../state/index.ts';
import type { Ports } from './ports.ts';
import { redactEvent } from './redact-event.ts';
import { advance, ownCopy } from './reduce.ts';

/** How old the snapshot may get. To write all tasks at each event would cost too much. */
const SNAPSHOT_MS = 500;

export type Journal = ReturnType<typeof openJournal>;

interface Book {
  readonly ports: Pick<Ports, 'clock' | 'store' | 'emit'>;
  readonly redact: (text: string) => string;
  state: RunState;
  readonly unsaved: NumberedEvent[];
  /** Undefined at first: the log may lack events of the first state, so the snapshot is written at once. */
  snapshot: { readonly events: number; readonly at: number } | undefined;
}

/** Each event goes into the log and the live view, without secrets; the snapshot with their sum is written less often. */
export function openJournal(
  ports: Pick<Ports, 'clock' | 'store' | 'emit'>,
  first: RunState,
  redact: (text: string) => string = (text) => text,
) {
  const book: Book = { ports, redact, state: ownCopy(first), unsaved: [], snapshot: undefined };
  return {
    get state(): RunState {
      return book.state;
    },
    /** When the snapshot is due, in ms from now; undefined while it holds everything. */
    get dueMs(): number | undefined {
      return dueMs(book);
    },
    record: (event: RunEvent): void => record(book, event),
    /** A heartbeat, which is too frequent to be an event. */
    heartbeat: (worker: number, at: string): void => {
      const { workers } = book.state;
      const known = workers[worker];
      if (known !== undefined && known.heartbeatAt !== at) workers[worker] = { ...known, heartbeatAt: at };
    },
    /**
     * Resolves when everything recorded so far is on the disk: in the log, and in the snapshot if that is due. Files of
     * the run that another program has removed are made again before, and a warning names them.
     */
    save: (): Promise<void> => save(book, () => dueMs(book) === 0),
    /** Resolves when the snapshot holds everything recorded so far. */
    checkpoint: (): Promise<void> => save(book, () => dueMs(book) !== undefined),
  };
}

function dueMs({ ports, state, snapshot }: Book): number | undefined {
  if (snapshot === undefined) return 0;
  // Heartbeats alone are no reason to write: readers find them in the workers' status files.
  if (snapshot.events === state.events) return undefined;
  return Math.max(0, snapshot.at + SNAPSHOT_MS - ports.clock.monotonic());
}

function record(book: Book, event: RunEvent): void {
  const at = new Date(book.ports.clock.now()).toISOString();
  const recorded: NumberedEvent = { seq: book.state.events + 1, at, ...redactEvent(event, book.redact) };
  book.state = advance(book.state, recorded);
  book.unsaved.push(recorded);
  book.ports.emit(recorded, book.state);
}

/** Makes removed files again first. When one is removed just before the write, both are repeated. */
function save(book: Book, isSnapshotDue: () => boolean): Promise<void> {
  const { store } = book.ports;
  return repeated(async () => {
    const gone = await store.restore();
    if (gone.length > 0) {
      record(book, { type: 'warning', text: goneInWords(gone) });
      // The log begins anew, so the snapshot must have all that was in it.
      await writeSnapshot(book);
    }
    // More is recorded while the log is written. The snapshot never has an event that the log does not have.
    while (book.unsaved.length > 0) {
      const events = [...book.unsaved];
      await store.append(events);
      book.unsaved.splice(0, events.length);
    }
    if (isSnapshotDue()) await writeSnapshot(book);
  }, isRemoved);
}

async function writeSnapshot(book: Book): Promise<void> {
  const { events } = book.state;
  await book.ports.store.write(book.state);
  book.snapshot = { events, at: book.ports.clock.monotonic() };
}

function isRemoved(error: unknown): boolean {
  return systemCode(error instanceof Error ? error.cause : undefined) === 'ENOENT';
}

function goneInWords(files: readonly string[]): string {
  return (
    `removed from the repository while the run goes on, as git clean -x does it: ${files.join(', ')}; ` +
    'they have been made again and the state is whole, but what the logs said before is lost'
  );
}

import type { NumberedEvent, RunEvent, RunState } from '../state/index.ts';
import type { Ports } from './ports.ts';
import { redactEvent } from './redact-event.ts';
import { advance, ownCopy } from './reduce.ts';

/** How old the snapshot may get while there is news. A snapshot per event would cost each task the size of all tasks. */
const SNAPSHOT_MS = 500;

/** The run's memory: what happened goes into the log and the live view, and now and then its sum into the snapshot. */
export interface Journal {
  readonly state: RunState;
  record(event: RunEvent): void;
  /** Facts that are too frequent to be events. */
  heard(worker: number, at: string): void;
  /** Resolves when everything recorded so far is on the disk: in the log, and in the snapshot if that is due. */
  save(): Promise<void>;
  /** Resolves when the snapshot holds everything recorded so far. */
  checkpoint(): Promise<void>;
  /** When the snapshot is due, in ms from now; undefined while it holds everything. */
  readonly dueMs: number | undefined;
}

/** `redact` takes secrets out of what is recorded, whichever way it came. */
export function openJournal(
  ports: Pick<Ports, 'clock' | 'store' | 'emit'>,
  first: RunState,
  redact: (text: string) => string = (text) => text,
): Journal {
  let state = ownCopy(first);
  const unsaved: NumberedEvent[] = [];
  /** What the first state is made of may not all be in the log: it is written at the first chance. */
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
  return {
    get state() {
      return state;
    },
    get dueMs() {
      return dueMs();
    },
    record: (event) => {
      const at = new Date(ports.clock.now()).toISOString();
      const recorded: NumberedEvent = { seq: state.events + 1, at, ...redactEvent(event, redact) };
      state = advance(state, recorded);
      unsaved.push(recorded);
      ports.emit(recorded);
    },
    heard: (worker, at) => {
      const known = state.workers[worker];
      if (known !== undefined && known.heartbeatAt !== at) state.workers[worker] = { ...known, heartbeatAt: at };
    },
    save: async () => {
      await append();
      if (dueMs() === 0) await write();
    },
    checkpoint: async () => {
      await append();
      if (written?.events !== state.events) await write();
    },
  };
}

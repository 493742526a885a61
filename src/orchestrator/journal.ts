import type { RecordedEvent, RunEvent, RunState } from '../state/index.ts';
import type { Ports } from './ports.ts';
import { reduce } from './reduce.ts';

/** The run's memory: what happened goes into the log and the live view, and its sum into the snapshot. */
export interface Journal {
  readonly state: RunState;
  record(event: RunEvent): void;
  /** Facts that are too frequent to be events. */
  heard(worker: number, at: string): void;
  /** Resolves when everything recorded so far is on the disk. */
  save(): Promise<void>;
}

export function openJournal(ports: Pick<Ports, 'clock' | 'store' | 'emit'>, first: RunState): Journal {
  let state = first;
  /** Heartbeats alone are not worth a write: whoever asks reads them where the workers write them. */
  let news = true;
  const unsaved: RecordedEvent[] = [];
  return {
    get state() {
      return state;
    },
    record: (event) => {
      const recorded: RecordedEvent = { at: new Date(ports.clock.now()).toISOString(), ...event };
      state = reduce(state, recorded);
      unsaved.push(recorded);
      news = true;
      ports.emit(recorded);
    },
    heard: (worker, at) => {
      const known = state.workers[worker];
      if (known === undefined || known.heartbeatAt === at) return;
      state = { ...state, workers: { ...state.workers, [worker]: { ...known, heartbeatAt: at } } };
    },
    save: async () => {
      if (!news) return;
      news = false;
      const events = [...unsaved];
      try {
        await ports.store.append(events);
        unsaved.splice(0, events.length);
        await ports.store.write(state);
      } catch (error) {
        news = true;
        throw error;
      }
    },
  };
}

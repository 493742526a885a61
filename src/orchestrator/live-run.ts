import type { Examiner } from './examine.ts';
import type { Journal } from './journal.ts';
import type { Merger } from './merger.ts';
import type { Observer } from './observe.ts';
import type { RunContext } from './ports.ts';
import type { SpareKeeper } from './spares.ts';
import type { WorkerFolders } from './worker-folders.ts';
import type { WorkerRegister } from './worker-register.ts';

/** The parts of a run that is under way. */
export interface LiveRun {
  readonly context: RunContext;
  readonly journal: Journal;
  readonly register: WorkerRegister;
  readonly observer: Observer;
  readonly merger: Merger;
  readonly examiner: Examiner;
  readonly folders: WorkerFolders;
  readonly spares: SpareKeeper;
}

import { randomId, within } from '../lib/index.ts';
import type { Spare } from '../launchers/index.ts';
import { branchNames } from '../protocol/index.ts';
import type { Journal } from './journal.ts';
import { addCheckout, bootOf, snapshotFor, specOf } from './new-worker.ts';
import type { ActionOf, SparesView } from './plan.ts';
import type { RunContext } from './ports.ts';
import type { WorkerFolders } from './worker-folders.ts';

/**
 * After so many in a row that could not be made, or did not live to be taken, no more are made in this run. Those that an
 * engine takes along together count once.
 */
const MOST_FAILURES = 3;
/** How long the end of a run waits for those that are being made. */
const MAKING_MS = 15_000;

/** The spares of a run, one for each number at most. */
export interface SpareKeeper {
  /** Null when none are made, or none any more. */
  view(): SparesView | null;
  /** Begins to make one, beside the loop. */
  make(wish: Pick<ActionOf<'make-spare'>, 'worker' | 'base'>): void;
  /** Begins to remove one. */
  drop(worker: number): void;
  /** Gives one away, with the session that it was made for. Its folders are still its own. */
  take(worker: number): TakenSpare | undefined;
  /** Removes all; never rejects, as the sweep at the end of a run removes what is left. */
  close(): Promise<void>;
}

interface TakenSpare {
  readonly session: string;
  readonly spare: Spare;
}

interface Kept {
  readonly session: string;
  /** The failures before it. */
  readonly after: number;
  how: 'making' | 'ready' | 'going';
  spare: Spare | undefined;
  /** Resolves when the last that was begun with it is over. */
  over: Promise<unknown>;
}

interface Keeping {
  readonly context: RunContext;
  readonly journal: Journal;
  readonly folders: Pick<WorkerFolders, 'discardSpare'>;
}

interface Book extends Keeping {
  readonly onNews: () => void;
  readonly held: Map<number, Kept>;
  failures: number;
  isClosed: boolean;
}

export function createSpares(keeping: Keeping, onNews: () => void): SpareKeeper {
  const { ports } = keeping.context;
  const book: Book = { ...keeping, onNews, held: new Map(), failures: 0, isClosed: false };
  const { held } = book;
  return {
    view: () => {
      if (ports.launcher.spares === null || book.failures >= MOST_FAILURES) return null;
      const shown = [...held].map(([worker, { how }]) => [worker, how] as const);
      return { held: new Map(shown), freeBytes: ports.freeMemory() };
    },
    make: (wish) => {
      const [session, after] = [randomId(), book.failures];
      const kept: Kept = { session, after, how: 'making', spare: undefined, over: Promise.resolve() };
      held.set(wish.worker, kept);
      kept.over = make(book, wish, kept);
    },
    drop: (worker) => {
      const kept = held.get(worker);
      if (kept?.how === 'ready') kept.over = forget(book, worker, kept);
    },
    take: (worker) => {
      const kept = held.get(worker);
      if (kept?.how !== 'ready' || kept.spare === undefined) return undefined;
      held.delete(worker);
      book.failures = 0;
      return { session: kept.session, spare: kept.spare };
    },
    close: async () => {
      book.isClosed = true;
      const ends = [...held].map(([worker, kept]) => (kept.how === 'ready' ? forget(book, worker, kept) : kept.over));
      await within(MAKING_MS, Promise.all(ends));
    },
  };
}

async function make(book: Book, { worker, base }: { worker: number; base: string }, kept: Kept): Promise<void> {
  try {
    kept.spare = await makeSpare(book, { worker, base, session: kept.session });
    if (book.isClosed) return await forget(book, worker, kept);
    kept.how = 'ready';
    void kept.spare.gone.then(() => {
      if (book.held.get(worker) !== kept || kept.how !== 'ready') return;
      book.failures = Math.max(book.failures, kept.after + 1);
      kept.over = forget(book, worker, kept);
    });
    book.onNews();
  } catch {
    // What is wrong is seen, and told, at the next start.
    book.failures = Math.max(book.failures, kept.after + 1);
    await forget(book, worker, kept);
  }
}

/** Its number is free for another one when nothing of it is left, as far as that can be removed now. */
async function forget({ folders, held, onNews }: Book, worker: number, kept: Kept): Promise<void> {
  kept.how = 'going';
  await kept.spare?.remove().catch(() => undefined);
  await folders.discardSpare(worker).catch(() => undefined);
  if (held.get(worker) === kept) held.delete(worker);
  onNews();
}

async function makeSpare(
  { context, journal, folders }: Keeping,
  wish: { readonly worker: number; readonly base: string; readonly session: string },
): Promise<Spare> {
  const { ports, graph } = context;
  const { launcher, spareMail, store } = ports;
  if (launcher.spares === null) throw new Error('its workers have no spares');
  const { worker, base } = wish;
  const run = { context, journal };
  const newWorker = { ...wish, branch: branchNames(graph.feature).worker(worker) };
  const [now, later] = [store.paths.spare(worker), store.paths.worker(worker)];
  const snapshot = await snapshotFor(run, base);
  await folders.discardSpare(worker);
  await spareMail.open(worker);
  await spareMail.brief(worker, bootOf(run, newWorker, snapshot, base));
  await addCheckout(context, newWorker, snapshot, now);
  const [spec, own] = [await specOf(run, newWorker, snapshot, later), await specOf(run, newWorker, snapshot, now)];
  return launcher.spares.make(spec, own);
}

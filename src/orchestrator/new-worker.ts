import { makeFolder, removeTree } from '../lib/index.ts';
import type { WorkerSpec } from '../launchers/index.ts';
import { INSIDE } from '../protocol/index.ts';
import type { Boot } from '../protocol/index.ts';
import type { Snapshot } from '../snapshots/index.ts';
import type { WorkerPaths } from '../state/index.ts';
import type { Journal } from './journal.ts';
import type { RunContext } from './ports.ts';

/** How much sooner than its worker an agent is killed, so that the worker can still save and report. */
const AGENT_GRACE_SHARE = 0.5;

export interface NewWorker extends Pick<Boot, 'worker' | 'session' | 'branch'> {
  /** The commit that it will most likely work on. */
  readonly base: string;
}

interface Run {
  readonly context: RunContext;
  readonly journal: Journal;
}

/** What its worktree begins with. */
export function snapshotFor({ context, journal }: Run, base: string): Promise<Snapshot | null> {
  return context.ports.snapshots.of(base, {
    runId: journal.state.runId,
    isPublished: base === journal.state.integrationTip,
    parent: journal.state.integrationTip,
    stop: context.options.stop,
    news: (event) => journal.record(event),
  });
}

/** A worker that shares our objects gets a worktree of our repository; every other worker makes its checkout itself. */
export function bootOf(
  { context, journal }: Run,
  { worker, session, branch, base }: NewWorker,
  snapshot: Snapshot | null,
  likelyBase: string | null,
): Boot {
  const { ports, options, graph } = context;
  const { sharesObjects, singleUse } = ports.launcher.capabilities;
  return {
    version: 1,
    runId: journal.state.runId,
    feature: graph.feature,
    worker,
    session,
    branch,
    checkedOut: sharesObjects ? base : (snapshot?.commit ?? null),
    likelyBase,
    setUp: snapshot?.isSetUp ?? false,
    bundles: !sharesObjects,
    singleUse,
    leaseMs: options.leaseMs,
    setup: options.setup,
    stopGraceMs: Math.round(options.graceMs * AGENT_GRACE_SHARE),
  };
}

export async function addCheckout(
  { ports }: RunContext,
  { branch, base }: NewWorker,
  snapshot: Snapshot | null,
  { worktree: folder, gitDir, overlayWork }: WorkerPaths,
): Promise<void> {
  const { launcher, repository } = ports;
  if (launcher.capabilities.sharesObjects) return repository.addWorktree({ folder, branch, base });
  const objects = await repository.objectFolders();
  const inside = {
    worktree: INSIDE.worktree,
    gitDir: INSIDE.gitDir,
    objects: objects.map((_, index) => `${INSIDE.objects}/${index}`),
  };
  await repository.addPrivateCheckout({ folder, gitDir, branch, base, index: snapshot?.index ?? null, inside });
  // A spare that did not fit may have had it.
  await removeTree(overlayWork);
  if (snapshot !== null) await makeFolder(overlayWork);
}

export async function specOf(
  { context, journal }: Run,
  { worker, session }: NewWorker,
  snapshot: Snapshot | null,
  { worktree, gitDir, inbox, outbox, log, overlayWork }: WorkerPaths,
): Promise<WorkerSpec> {
  const { ports, options, graph } = context;
  if (options.stop.aborted) throw new Error('the run is being stopped');
  const { sharesObjects } = ports.launcher.capabilities;
  return {
    runId: journal.state.runId,
    feature: graph.feature,
    worker,
    session,
    privateGit: sharesObjects ? null : { gitDir, objects: await ports.repository.objectFolders() },
    worktree,
    layers: snapshot === null ? null : { snapshot: snapshot.id, lower: snapshot.lower, work: overlayWork },
    inbox,
    outbox,
    shared: ports.store.paths.shared,
    log,
    env: options.env,
  };
}

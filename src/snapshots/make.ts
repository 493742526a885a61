import path from 'node:path';
import { diskUsage } from '../containers/index.ts';
import type { Repository } from '../git/index.ts';
import type { Launcher, WorkerExit, WorkerHandle, WorkerSpec, WorktreeLayers } from '../launchers/index.ts';
import {
  copyUntrusted,
  inSeconds,
  makeFolder,
  randomId,
  readJson,
  removeTree,
  sleep,
  systemClock,
} from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { createFolderMail } from '../mail/index.ts';
import type { Mail } from '../mail/index.ts';
import { branchNames, INSIDE, SNAPSHOT_DRAFT, SNAPSHOT_MAKER, workerStatus } from '../protocol/index.ts';
import type { Boot, WorkerStatus } from '../protocol/index.ts';
import { snapshotErrors } from './errors.ts';
import { partsOf } from './store.ts';
import type { SnapshotStore } from './store.ts';

const TICK_MS = 500;
/** For a checkout, and for a slow machine. */
const UNLIMITED_MS = 15 * 60_000;
/** Git's index has about 100 bytes a file. */
const INDEX_BYTES = 1024 ** 3;
const ASSIGNMENT = '@snapshot.1';

export interface Maker {
  readonly feature: string;
  readonly repository: Pick<Repository, 'root' | 'objectFolders' | 'addPrivateCheckout'>;
  readonly launcher: Pick<Launcher, 'start' | 'wait' | 'stop'>;
  readonly store: SnapshotStore;
  readonly paths: {
    readonly workers: string;
    readonly shared: string;
    readonly lease: string;
    readonly log: string;
  };
  readonly env: Environment;
  readonly leaseMs: number;
  readonly stopGraceMs: number;
  readonly setup: Boot['setup'];
  redact(text: string): string;
}

interface Request {
  readonly runId: string;
  readonly isShared: boolean;
  readonly commit: string;
  readonly key: string;
  readonly stop: AbortSignal;
}

export type MakeSnapshot = (
  request: Request,
) => Promise<{ readonly id: string; readonly commit: string; readonly isSetUp: boolean }>;

/**
 * Two containers, one after the other. In the first only git runs, so its files and its index are those of the commit. In
 * the second the set-up runs on top of them: what it changes is kept apart, and its changes of tracked files show, whatever
 * it does to their times. Throws SETUP_FAILED and SNAPSHOT_FAILED.
 */
export function snapshotMaker(maker: Maker): MakeSnapshot {
  return async (request) => {
    const draft = path.join(maker.paths.workers, `${SNAPSHOT_DRAFT}${randomId()}`);
    const kept = path.join(draft, 'kept');
    const { tree, setUp, index } = partsOf(kept);
    const { commit, key, isShared } = request;
    const isSetUp = maker.setup !== null;
    const side = sideOf(maker, draft);
    try {
      await makeFolder(kept, 0o700);
      await prepare(maker, request, side, { worktree: tree, layers: null, index: null, setup: null });
      await copyUntrusted(path.join(side.gitDir, 'index'), index, INDEX_BYTES);
      const layers = { snapshot: key, lower: [tree], work: path.join(draft, 'overlay') };
      await prepare(maker, request, side, { worktree: setUp, layers, index, setup: maker.setup });
      const { bytes } = await diskUsage(isSetUp ? [tree, setUp] : [tree]);
      const facts = { key, repository: maker.repository.root, commit, isSetUp, isShared, bytes };
      return { id: await maker.store.keep(kept, facts), commit, isSetUp };
    } finally {
      await removeTree(draft);
    }
  };
}

type Side = ReturnType<typeof sideOf>;

/** What a container that makes a snapshot has beside its worktree. */
function sideOf({ paths }: Maker, draft: string) {
  const folder = path.join(draft, 'mail');
  const [inbox, outbox] = [path.join(folder, 'inbox'), path.join(folder, 'outbox')];
  const places = { inbox, outbox, status: path.join(outbox, 'status.json'), bundle: path.join(folder, 'work.bundle') };
  const mail = createFolderMail({ lease: paths.lease, worker: () => places });
  return { mail, inbox, outbox, gitDir: path.join(draft, 'git') };
}

interface Step {
  readonly worktree: string;
  readonly layers: WorktreeLayers | null;
  readonly index: string | null;
  readonly setup: Boot['setup'];
}

/** Runs a worker that checks the commit out, or sets it up, and does nothing else. Nothing of it is left afterwards. */
async function prepare(maker: Maker, request: Request, side: Side, step: Step): Promise<void> {
  const { launcher } = maker;
  const { commit, isShared, stop } = request;
  const boot = bootOf(maker, request, step);
  const { mail } = side;
  await mail.open(SNAPSHOT_MAKER);
  await mail.brief(SNAPSHOT_MAKER, boot);
  await mail.deliver(SNAPSHOT_MAKER, { version: 1, kind: 'prepare', attempt: ASSIGNMENT, base: commit });
  const spec = await specOf(maker, boot, side, { ...step, commit });
  goOn(stop);
  const handle = await launcher.start(spec);
  try {
    await untilPrepared(maker, { handle, mail, commit, isShared, stop, setup: step.setup });
  } finally {
    await launcher.stop(handle, { graceMs: 0 });
  }
}

function bootOf({ feature, leaseMs, stopGraceMs }: Maker, { runId, commit }: Request, step: Step): Boot {
  return {
    version: 1,
    runId,
    feature,
    worker: SNAPSHOT_MAKER,
    session: randomId(),
    branch: branchNames(feature).worker(SNAPSHOT_MAKER),
    checkedOut: step.layers === null ? null : commit,
    likelyBase: null,
    setUp: false,
    bundles: true,
    singleUse: true,
    leaseMs,
    setup: step.setup,
    stopGraceMs,
  };
}

async function specOf(
  { repository, paths, env }: Maker,
  { runId, feature, worker, session, branch }: Boot,
  { inbox, outbox, gitDir }: Side,
  { worktree, layers, index, commit }: Step & { readonly commit: string },
): Promise<WorkerSpec> {
  const objects = await repository.objectFolders();
  const places = objects.map((_, number) => `${INSIDE.objects}/${number}`);
  const inside = { worktree: INSIDE.worktree, gitDir: INSIDE.gitDir, objects: places };
  await repository.addPrivateCheckout({ folder: worktree, gitDir, branch, base: commit, index, inside });
  if (layers !== null) await makeFolder(layers.work);
  const { shared, log } = paths;
  const privateGit = { gitDir, objects };
  return { runId, feature, worker, session, worktree, privateGit, layers, inbox, outbox, shared, log, env };
}

interface Waiting {
  readonly handle: WorkerHandle;
  readonly mail: Mail;
  readonly commit: string;
  readonly isShared: boolean;
  readonly stop: AbortSignal;
  readonly setup: Boot['setup'];
}

async function untilPrepared({ launcher, redact }: Maker, waiting: Waiting): Promise<void> {
  const { handle, mail, stop, setup } = waiting;
  let rung = new AbortController();
  const ring = (): void => rung.abort();
  const watch = mail.watch(SNAPSHOT_MAKER, ring);
  const end = launcher.wait(handle).then((exit) => ({ exit }));
  let isOver = false;
  const over = (): void => {
    isOver = true;
    ring();
  };
  end.then(over, over);
  const limitMs = (setup?.timeoutMs ?? 0) + UNLIMITED_MS;
  const until = systemClock.monotonic() + limitMs;
  try {
    for (;;) {
      // Its last status is read after its end.
      const isLast = isOver;
      if (isPrepared(waiting, await readStatus(mail, handle.session, redact))) return;
      if (isLast) throw failureOf(waiting, (await end).exit);
      goOn(stop);
      if (systemClock.monotonic() > until) throw unusable(waiting, `it was not ready after ${inSeconds(limitMs)}`);
      await sleep(TICK_MS, AbortSignal.any([rung.signal, stop]));
      rung = new AbortController();
    }
  } finally {
    watch.close();
  }
}

function goOn(stop: AbortSignal): void {
  if (stop.aborted) throw new Error('the run is being stopped');
}

function isPrepared(waiting: Waiting, status: WorkerStatus | undefined): boolean {
  if (status?.setupFailure != null) throw snapshotErrors.SETUP_FAILED({ reason: status.setupFailure });
  if (status?.result?.kind !== 'prepared') return false;
  if (status.result.error === null) return true;
  throw unusable(waiting, status.result.error);
}

/** What exceeds a limit is the doing of the set-up, or of the commit. */
function failureOf(waiting: Waiting, { code, signal, overLimit }: WorkerExit): Error {
  const { commit, setup } = waiting;
  const how = overLimit ?? (signal === null ? `its container ended with exit status ${code}` : `killed by ${signal}`);
  if (overLimit === undefined) return snapshotErrors.SNAPSHOT_FAILED({ commit, reason: how });
  if (setup === null) return unusable(waiting, how);
  return snapshotErrors.SETUP_FAILED({ reason: `the set-up "${setup.command}" failed: ${how}` });
}

/** A commit that tasks start from is not the fault of any of them. */
function unusable({ commit, isShared }: Waiting, reason: string): Error {
  return isShared
    ? snapshotErrors.SNAPSHOT_FAILED({ commit, reason })
    : snapshotErrors.COMMIT_UNUSABLE({ commit, reason });
}

/** A status that cannot be read is followed by another one, or by the end. */
async function readStatus(mail: Mail, session: string, redact: Maker['redact']): Promise<WorkerStatus | undefined> {
  const text = await mail.readStatus(SNAPSHOT_MAKER).catch(() => undefined);
  const status = readJson(workerStatus, text === undefined ? undefined : redact(text));
  return status?.session === session ? status : undefined;
}

import type { Repository } from '../git/index.ts';
import type { Launcher, WorkerHandle, WorkerSpec } from '../launchers/index.ts';
import { inSeconds, makeFolder, randomId, readJson, systemClock, within } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { createFolderMail } from '../mail/index.ts';
import { branchNames, INSIDE, SHELL_WORKER, workerStatus } from '../protocol/index.ts';
import type { Boot, WorkerStatus } from '../protocol/index.ts';
import type { Snapshot } from '../snapshots/index.ts';
import type { FeaturePaths, WorkerPaths } from '../state/index.ts';
import { shellErrors } from './errors.ts';

const LOOK_MS = 50;
/** For a checkout, and for a slow machine. */
const CHECKOUT_MS = 15 * 60_000;
const ASSIGNMENT = '@shell.1';

interface FreshWishes {
  /** The id of the owner of the container. */
  readonly owner: string;
  readonly feature: string;
  readonly commit: string;
  readonly snapshot: Snapshot | null;
  readonly repository: Pick<Repository, 'objectFolders' | 'addPrivateCheckout'>;
  readonly launcher: Pick<Launcher, 'start' | 'wait'>;
  /** Folders of its own: none is of the run. */
  readonly paths: Pick<FeaturePaths, 'lease' | 'shared'> & { worker(worker: number): WorkerPaths };
  readonly env: Environment;
  readonly leaseMs: number;
  readonly stopGraceMs: number;
  readonly setup: Boot['setup'];
  readonly stop: AbortSignal;
}

/**
 * A container of a worker that checks a commit out, as for a task, and is given no task: it stays until its lease ends.
 * Throws SHELL_NOT_READY.
 */
export async function startFresh(wishes: FreshWishes): Promise<WorkerHandle> {
  const { launcher, paths, commit, stop } = wishes;
  const mail = createFolderMail(paths);
  const boot = bootOf(wishes);
  await mail.open(SHELL_WORKER);
  await mail.brief(SHELL_WORKER, boot);
  await mail.deliver(SHELL_WORKER, { version: 1, kind: 'prepare', attempt: ASSIGNMENT, base: commit });
  const spec = await specOf(wishes, boot);
  stop.throwIfAborted();
  const handle = await launcher.start(spec);
  const end = launcher.wait(handle);
  const limitMs = CHECKOUT_MS + (wishes.setup?.timeoutMs ?? 0);
  const until = systemClock.monotonic() + limitMs;
  for (;;) {
    const exit = await within(LOOK_MS, end);
    const text = await mail.readStatus(SHELL_WORKER).catch(() => undefined);
    if (isReady(commit, readJson(workerStatus, text))) return handle;
    stop.throwIfAborted();
    if (exit !== undefined) throw notReady(commit, exit.overLimit ?? `it ended with exit status ${exit.code}`);
    if (systemClock.monotonic() > until) throw notReady(commit, `it was not ready after ${inSeconds(limitMs)}`);
  }
}

const notReady = (commit: string, reason: string): Error => shellErrors.SHELL_NOT_READY({ commit, reason });

function isReady(commit: string, status: WorkerStatus | undefined): boolean {
  if (status?.setupFailure != null) throw notReady(commit, status.setupFailure);
  if (status?.result?.kind !== 'prepared') return false;
  if (status.result.error !== null) throw notReady(commit, status.result.error);
  return true;
}

function bootOf({ owner, feature, snapshot, leaseMs, stopGraceMs, setup }: FreshWishes): Boot {
  return {
    version: 1,
    runId: owner,
    feature,
    worker: SHELL_WORKER,
    session: randomId(),
    branch: `${branchNames(feature).prefix}shell`,
    checkedOut: snapshot?.commit ?? null,
    likelyBase: null,
    setUp: snapshot?.isSetUp ?? false,
    bundles: true,
    singleUse: true,
    leaseMs,
    setup,
    stopGraceMs,
  };
}

async function specOf(wishes: FreshWishes, { branch, session }: Boot): Promise<WorkerSpec> {
  const { owner, feature, commit, snapshot, repository, paths, env } = wishes;
  const { worktree, gitDir, inbox, outbox, log, overlayWork } = paths.worker(SHELL_WORKER);
  const objects = await repository.objectFolders();
  const places = objects.map((_, number) => `${INSIDE.objects}/${number}`);
  const inside = { worktree: INSIDE.worktree, gitDir: INSIDE.gitDir, objects: places };
  const index = snapshot?.index ?? null;
  await repository.addPrivateCheckout({ folder: worktree, gitDir, branch, base: commit, index, inside });
  if (snapshot !== null) await makeFolder(overlayWork);
  return {
    runId: owner,
    feature,
    worker: SHELL_WORKER,
    session,
    worktree,
    privateGit: { gitDir, objects },
    layers: snapshot === null ? null : { snapshot: snapshot.id, lower: snapshot.lower, work: overlayWork },
    inbox,
    outbox,
    shared: paths.shared,
    log,
    env,
  };
}

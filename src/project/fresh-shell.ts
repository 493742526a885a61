import path from 'node:path';
import { LABEL, removeOrphans } from '../containers/index.ts';
import { createFolderMail } from '../mail/index.ts';
import { copyTogether, firstLine, hasCode, randomId } from '../lib/index.ts';
import type { HeldFolder } from '../lib/index.ts';
import { startFresh, startProgram } from '../shells/index.ts';
import type { Snapshot, Snapshots } from '../snapshots/index.ts';
import { snapshotErrors } from '../snapshots/errors.ts';
import { runPaths } from '../state/index.ts';
import { orphanRuns } from './orphans.ts';
import type { RunHost } from './run-face.ts';
import { shellFolders } from './shell-folders.ts';
import type { FreshPlace } from './shell-place.ts';
import { wiredShell } from './shell-plan.ts';
import type { OpenShell, ShellPlan } from './shell-plan.ts';
import { wireSnapshots } from './wire-snapshots.ts';
import type { SnapshotWishes } from './wire-snapshots.ts';

/** A container on a commit, made as for a task. It goes with the shell, and nothing of it comes back. */
export async function openFresh(plan: ShellPlan, place: FreshPlace, host: RunHost): Promise<OpenShell> {
  const { project, feature, mode, config } = plan;
  const orphans = orphanRuns({ project, leaseMs: config.workers.lease, mine: null });
  await removeOrphans(mode.engine, { ...orphans, labels: { ...orphans.labels, [LABEL.kind]: 'shell' } });
  const folders = shellFolders(project, feature);
  await folders.clearGone();
  const own = await folders.make(randomId());
  const closing: (() => Promise<unknown> | void)[] = [own.remove];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).toReversed()) await step();
  };
  try {
    return { ...(await open(plan, { place, own, host, closing })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Opening {
  readonly place: FreshPlace;
  readonly own: HeldFolder;
  readonly host: RunHost;
  /** What is to be done at the end, the last first. */
  readonly closing: (() => Promise<unknown> | void)[];
}

async function open(plan: ShellPlan, { place, own, host, closing }: Opening): Promise<Omit<OpenShell, 'close'>> {
  const { project, feature, mode } = plan;
  const { engine } = mode;
  const { workers, options, variables } = await wiredShell(plan, own, host);
  const { launcher } = workers;
  const { leaseMs, env, graceMs: stopGraceMs, stop } = options;
  const paths = runPaths(own.folder, path.join(own.folder, 'logs'));
  await copyTogether(project.repository.root, options.copies, paths.copies);
  const lease = await createFolderMail(paths).keepLease(leaseMs);
  const sweep = (): Promise<number> => launcher.sweep(own.id);
  closing.push(() => lease.close(), sweep);
  host.onForce(async () => void (await sweep()));
  const snapshots = snapshotsFor(plan, { paths, workers, options });
  const { snapshot, problem } = await snapshotOf(snapshots, place.commit, { runId: own.id, stop });
  const { repository } = project;
  const making = { owner: own.id, feature, commit: place.commit, snapshot, repository, launcher, paths };
  const setup = problem === undefined ? options.setup : null;
  const handle = await startFresh({ ...making, env, leaseMs, stopGraceMs, setup, stop });
  const id = handle.containerId ?? '';
  const given = await variables(place.task);
  const where = `in a fresh container, which goes when this ends: on ${place.what}`;
  return {
    said: problem === undefined ? [where] : [where, `without the set-up, which fails on this commit: ${problem}`],
    start: (input) => startProgram(engine, id, given, input),
    killed: 'killed',
  };
}

function snapshotsFor(
  { project, config, feature }: ShellPlan,
  made: Pick<SnapshotWishes, 'paths' | 'workers' | 'options'>,
): Snapshots {
  return wireSnapshots({ project, ...made, feature, limitBytes: config.workers.container.snapshots });
}

/** A commit on which the set-up fails can be looked at all the same. */
async function snapshotOf(
  snapshots: Snapshots,
  commit: string,
  asking: { readonly runId: string; readonly stop: AbortSignal },
): Promise<{ readonly snapshot: Snapshot | null; readonly problem?: string }> {
  try {
    return { snapshot: await snapshots.of(commit, { ...asking, isPublished: false, news: () => undefined }) };
  } catch (error) {
    if (!hasCode(error, snapshotErrors.SETUP_FAILED)) throw error;
    return { snapshot: null, problem: firstLine(error.message) };
  }
}

import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { LABEL } from '../containers/index.ts';
import type { Engine } from '../engines/index.ts';
import { RUN_LABEL } from '../launchers/index.ts';
import { hasCode } from '../lib/index.ts';
import { gitErrors } from '../git/errors.ts';
import { namesPackages } from '../git/index.ts';
import type { Repository } from '../git/index.ts';
import type { RunOptions } from '../orchestrator/index.ts';
import { SNAPSHOT_MAKER } from '../protocol/index.ts';
import { createSnapshots, NO_SNAPSHOTS, openSnapshotStore, snapshotMaker, tryOverlayOnce } from '../snapshots/index.ts';
import type { Difference, Snapshots, SnapshotsOptions, SnapshotStore } from '../snapshots/index.ts';
import type { StateStore } from '../state/index.ts';
import { snapshotsOf } from './project.ts';
import type { Project } from './project.ts';
import type { SnapshotBase, Workers } from './run-workers.ts';
import { snapshotKey } from './snapshot-key.ts';
import { trialLabels } from './try-overlays.ts';

/** What snapshots of a run are made from. */
export interface SnapshotWishes {
  readonly project: Project;
  /** Where snapshots are made. */
  readonly paths: Pick<StateStore['paths'], 'workers' | 'shared' | 'lease' | 'worker'>;
  readonly workers: Workers;
  readonly options: Pick<RunOptions, 'copies' | 'env' | 'leaseMs' | 'setup' | 'redact' | 'graceMs'>;
  readonly feature: string;
  readonly limitBytes: number;
}

/** Snapshots for workers in containers; none for other workers. */
export function wireSnapshots(wishes: SnapshotWishes): Snapshots {
  const { project, paths: own, workers, options, feature } = wishes;
  const { snapshotBase, launcher } = workers;
  if (snapshotBase === null) return NO_SNAPSHOTS;
  const { repository } = project;
  const kept = openSnapshotStore(snapshotsOf(project.paths.placeOf(feature).top));
  const paths = { ...own, log: own.worker(SNAPSHOT_MAKER).log };
  const { env, leaseMs, setup, redact, graceMs: stopGraceMs } = options;
  const maker = { feature, repository, launcher, store: kept, paths };
  return createSnapshots({
    store: kept,
    command: setup?.command ?? null,
    limitBytes: wishes.limitBytes,
    wanted: createKeys(wishes, snapshotBase, kept),
    bytesOf: (commit) => repository.checkoutBytes(commit),
    changedBetween: (from, to) => changedBetween(repository, from, to),
    inUse: () => snapshotsInUse(snapshotBase.engine),
    tryOverlay: ({ runId, stop }) => {
      const labels = trialLabels(repository.root, { runId, feature });
      return tryOverlayOnce(
        { ...snapshotBase, image: snapshotBase.workerImage, labels, top: kept.top, place: own.workers },
        stop,
      );
    },
    make: snapshotMaker({ ...maker, env, leaseMs, stopGraceMs, setup, redact }),
  });
}

/** What is the same for all snapshots of a run is read once: the files of this run were copied at its start. */
function createKeys(
  { project: { repository }, options: { copies, env, setup } }: SnapshotWishes,
  base: SnapshotBase,
  kept: Pick<SnapshotStore, 'secret'>,
): SnapshotsOptions['wanted'] {
  const read = () =>
    Promise.all([kept.secret(), repository.checkoutSettings(), copiesOf(repository.root, copies)] as const);
  let known: ReturnType<typeof read> | undefined;
  return async (commit) => {
    const { lockFiles, files } = await repository.lockFilesOf(commit);
    return {
      files,
      key: async () => {
        known ??= read();
        const [secret, settings, copied] = await known;
        const parts = { lockFiles, settings, copies: copied, env, base };
        return snapshotKey(secret, { repository: repository.root, setup: setup?.command, ...parts });
      },
    };
  };
}

/** Copied files that were changed are copied again by each worker; so a snapshot is good for those that it was made with. */
async function copiesOf(root: string, copies: readonly string[]): Promise<readonly unknown[]> {
  return Promise.all(
    copies.map(async (file) => {
      const { size, mtimeMs, mode } = await lstat(path.join(root, file));
      return [file, size, mtimeMs, mode];
    }),
  );
}

/** A commit of an old snapshot may be gone. */
async function changedBetween(repository: Repository, from: string, to: string): Promise<Difference | undefined> {
  try {
    const [changes] = await repository.changedFiles([{ from, to }]);
    const paths = [...(changes?.keys() ?? [])];
    return { files: paths.length, changesKey: paths.some(namesPackages) };
  } catch (error) {
    if (hasCode(error, gitErrors.GIT_FAILED)) return undefined;
    throw error;
  }
}

/** The snapshots that containers of runs and shells use. */
export async function snapshotsInUse(engine: Pick<Engine, 'listContainers'>): Promise<ReadonlySet<string>> {
  const kinds = ['run', 'shell'].map((kind) => engine.listContainers({ [LABEL.kind]: kind }));
  const all = (await Promise.all(kinds)).flat();
  return new Set(all.flatMap(({ labels }) => labels[RUN_LABEL.snapshot] ?? []));
}

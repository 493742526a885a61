import path from 'node:path';
import type { Writable } from 'node:stream';
import { bind, keepOutput, resumeOutput, tmpfs, uidOf } from '../../containers/index.ts';
import type { ContainerWish, KnownAtStart, Upkeep } from '../../containers/index.ts';
import type { Engine, Mount } from '../../engines/index.ts';
import { HANDOVER_MARK, INSIDE, MARKS } from '../../protocol/index.ts';
import type { WorkerSpec } from '../launcher.ts';
import { assignmentWatch } from './assignment-watch.ts';
import { emptyFile, emptyFolders, hostnameOf, hostsFile } from './folders.ts';
import { WORKER_ROLE, placesOfSpec, runOwner, workerLabels } from './labels.ts';
import type { Places } from './labels.ts';
import { handoverLine } from './handover-line.ts';
import { secretsOf } from './settings.ts';
import type { ContainerSettings } from './settings.ts';

/** The name people see first; the others are for when it is taken: by another run, or by an earlier life of this worker. */
export function namesOf(spec: Pick<WorkerSpec, 'worker' | 'runId' | 'session'>): readonly [string, ...string[]] {
  const name = `mahabharatha-worker-${spec.worker}`;
  return [name, `${name}-${spec.runId}`, `${name}-${spec.runId}-${spec.session.slice(0, 8)}`];
}

interface Making {
  readonly engine: Engine;
  readonly settings: ContainerSettings;
  /** Object folders whose own list of alternates must not be seen inside. */
  readonly masked: readonly number[];
  /** Gets the worker's stdin, when there is one. */
  readonly attached: (stdin: Writable) => void;
}

/** The container of one worker. */
export function workerWish(spec: WorkerSpec, { engine, settings, masked, attached }: Making): ContainerWish {
  const upkeep = workerUpkeep(placesOfSpec(spec), engine, settings);
  const { image, gid, memoryBytes, cpus, pids, runtime, network, egress } = settings;
  return {
    owner: runOwner({ ...spec, repo: settings.repo }),
    role: WORKER_ROLE,
    session: spec.session,
    labels: workerLabels(spec),
    names: namesOf(spec),
    image,
    command: [],
    env: {
      HOME: INSIDE.home,
      [HANDOVER_MARK]: 'stdin',
      [MARKS.run]: spec.runId,
      [MARKS.session]: spec.session,
      [MARKS.worker]: String(spec.worker),
    },
    uid: uidOf(settings, spec.worker),
    gid,
    workdir: INSIDE.worktree,
    hostname: hostnameOf(spec),
    mounts: mountsOf(spec, settings, masked),
    network,
    client: egress === null ? null : spec.worker,
    memoryBytes,
    cpus,
    pids,
    fileBytes: settings.diskBytes,
    runtime,
    firstLine: (known: KnownAtStart) => handoverLine(spec, settings, known),
    upkeep: {
      ...upkeep,
      keep: (attachment) => {
        attached(attachment.stdin);
        return upkeep.keep(attachment);
      },
    },
  };
}

/** What the host keeps of a worker; `settings` are those of this process, also for a worker of an earlier one. */
export function workerUpkeep(places: Places, engine: Engine, settings: ContainerSettings): Upkeep {
  const keeping = { log: places.log, secrets: secretsOf(settings), section: assignmentWatch(places.inbox) };
  return {
    folders: [places.worktree, places.gitDir, places.outbox],
    disk: { bytes: settings.diskBytes, setting: 'workers.container.disk' },
    memoryBytes: settings.memoryBytes,
    keep: (attachment) => keepOutput(attachment, keeping),
    resume: (id) => resumeOutput(engine, id, keeping),
    empty: () => emptyFolders(places),
  };
}

function mountsOf(spec: WorkerSpec, settings: ContainerSettings, masked: readonly number[]): Mount[] {
  const objects = spec.privateGit?.objects ?? [];
  const { tmpfsBytes: bytes, gid } = settings;
  const memory = { bytes, uid: uidOf(settings, spec.worker), gid };
  return [
    bind(spec.worktree, INSIDE.worktree, false),
    ...(spec.privateGit === null ? [] : [bind(spec.privateGit.gitDir, INSIDE.gitDir, false)]),
    ...objects.map((folder, index) => bind(folder, `${INSIDE.objects}/${index}`, true)),
    ...masked.map((index) =>
      bind(emptyFile(spec), path.posix.join(INSIDE.objects, String(index), 'info', 'alternates'), true),
    ),
    bind(spec.inbox, INSIDE.inbox, true),
    bind(spec.outbox, INSIDE.outbox, false),
    bind(spec.shared, INSIDE.shared, true),
    ...(settings.network === 'none' ? [bind(hostsFile(spec), '/etc/hosts', true)] : []),
    tmpfs('/tmp', 0o1777, memory),
    tmpfs(INSIDE.home, 0o700, memory),
    ...settings.caches.map(({ volume, target }): Mount => ({ kind: 'volume', name: volume, target, readOnly: false })),
    ...settings.mounts,
  ];
}

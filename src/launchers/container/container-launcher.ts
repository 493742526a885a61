import path from 'node:path';
import type { Writable } from 'node:stream';
import { bind, createContainers, keepOutput, resumeOutput, tmpfs } from '../../containers/index.ts';
import type { ContainerWish, StartedContainer, Upkeep } from '../../containers/index.ts';
import type { ContainerInfo, Engine, Mount } from '../../engines/index.ts';
import { lastLines } from '../../logs/index.ts';
import { DEADLINE_MARK, HANDOVER_MARK, INSIDE, MARKS, SHELL_WORKER, SNAPSHOT_MAKER } from '../../protocol/index.ts';
import type { Launcher, WorkerHandle, WorkerSpec } from '../launcher.ts';
import { assignmentWatch } from './assignment-watch.ts';
import { createContainerSpares, isSpare } from './container-spares.ts';
import { emptyFile, emptyFolders, hostnameOf, hostsFile, prepareFolders } from './folders.ts';
import {
  CONTAINER,
  WORKER_ROLE,
  handleOf,
  ofWorkers,
  placesOf,
  placesOfSpec,
  runOwner,
  workerLabels,
} from './labels.ts';
import type { Places } from './labels.ts';
import { secretsOf } from './settings.ts';
import type { ContainerLauncherOptions, ContainerSettings } from './settings.ts';
import { handoverLine } from './stdin-lines.ts';
import { createWorkerStdins } from './worker-stdins.ts';

/** The worker itself ends after one. */
const LEASES = 3;

/** Workers as locked-down containers: they see their own folders, and of the network what the user allows. */
export function createContainerLauncher(options: ContainerLauncherOptions): Launcher {
  const { engine, settings } = options;
  const volumes = settings.caches.map(({ volume: name, labels }) => ({ name, labels }));
  const containers = createContainers({ ...options, egress: settings.egress, volumes });
  const stdins = createWorkerStdins();
  const prepare = async (spec: WorkerSpec, now: WorkerSpec = spec): Promise<ContainerWish> => {
    const masked = await prepareFolders(now, settings);
    const attached = (stdin: Writable): void => stdins.attached(spec.session, stdin);
    const wish = workerWish(spec, { engine, settings, masked, attached });
    return {
      ...wish,
      mounts: mountsOf(now, settings, masked),
      firstLine: (known) => {
        stdins.proves(spec.session, known.modelToken);
        return handoverLine(spec, settings, known);
      },
    };
  };
  const started = (handle: WorkerHandle): StartedContainer => startedContainer(handle, options);
  const begun = (info: ContainerInfo): WorkerHandle => {
    const handle = handleOf(info);
    void stdins.dropAfter(handle.session, containers.wait(started(handle)));
    return handle;
  };
  return {
    name: CONTAINER,
    capabilities: { sharesObjects: false, singleUse: true },
    start: async (spec) => begun(await containers.start(prepare(spec))),
    spares: createContainerSpares({ engine, containers, prepare, begun, drop: stdins.drop }),
    recover: (handle) => containers.recover(started(handle)),
    takesCredentials: stdins.isOpen,
    giveCredentials: (handle, attempt, agent) => stdins.give(handle, attempt, settings.accesses.get(agent)),
    wait: (handle) => containers.wait(started(handle)),
    stop: (handle, { graceMs }) => containers.stop(started(handle), graceMs),
    logs: async (handle, lines) => (await lastLines(placesOf(handle.facts).log, lines, () => true)).lines,
    list: (runId) => listWorkers(engine, runId),
    sweep: (runId) => containers.sweep(runId),
  };
}

/** The other names are for when the first is taken by another run, or by an earlier session of this worker. */
export function namesOf(spec: Pick<WorkerSpec, 'worker' | 'runId' | 'session'>): readonly [string, ...string[]] {
  if (spec.worker === SNAPSHOT_MAKER) return [`mahabharatha-snapshot-${spec.session}`];
  if (spec.worker === SHELL_WORKER) return [`mahabharatha-shell-${spec.runId}`];
  const name = `mahabharatha-worker-${spec.worker}`;
  return [name, `${name}-${spec.runId}`, `${name}-${spec.runId}-${spec.session.slice(0, 8)}`];
}

interface Making {
  readonly engine: Engine;
  readonly settings: ContainerSettings;
  /** Object folders whose list of alternates is hidden inside. */
  readonly masked: readonly number[];
  /** Called with the worker's stdin. */
  readonly attached: (stdin: Writable) => void;
}

/** The container of one worker. */
export function workerWish(spec: WorkerSpec, { engine, settings, masked, attached }: Making): ContainerWish {
  const upkeep = workerUpkeep(placesOfSpec(spec), engine, settings);
  const { image, uid, gid, memoryBytes, cpus, pids, runtime, network, egress } = settings;
  return {
    owner: runOwner({ ...spec, kind: settings.owner, repo: settings.repo }),
    role: WORKER_ROLE,
    session: spec.session,
    labels: workerLabels(spec),
    names: namesOf(spec),
    image,
    command: [],
    env: firstEnv(spec, settings),
    uid,
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
    firstLine: (known) => handoverLine(spec, settings, known),
    upkeep: {
      ...upkeep,
      keep: (attachment) => {
        attached(attachment.stdin);
        return upkeep.keep(attachment);
      },
    },
  };
}

/** For the worker program; nothing in it is secret. */
function firstEnv({ runId, session, worker }: WorkerSpec, { leaseMs }: ContainerSettings): ContainerWish['env'] {
  return {
    HOME: INSIDE.home,
    [HANDOVER_MARK]: 'stdin',
    [DEADLINE_MARK]: String(Math.ceil((leaseMs * LEASES) / 1000)),
    [MARKS.run]: runId,
    [MARKS.session]: session,
    [MARKS.worker]: String(worker),
  };
}

/** What the host keeps of a worker. A worker that another process has started is kept by the settings of this one. */
function workerUpkeep(places: Places, engine: Engine, settings: ContainerSettings): Upkeep {
  const keeping = { log: places.log, secrets: secretsOf(settings), section: assignmentWatch(places.inbox) };
  return {
    disk: {
      folders: [places.worktree, places.gitDir, places.outbox],
      bytes: settings.diskBytes,
      setting: 'workers.container.disk',
    },
    memoryBytes: settings.memoryBytes,
    keep: (attachment) => keepOutput(attachment, keeping),
    resume: (id) => resumeOutput(engine, id, keeping),
    empty: () => emptyFolders(places),
  };
}

function mountsOf(spec: WorkerSpec, settings: ContainerSettings, masked: readonly number[]): Mount[] {
  const objects = spec.privateGit?.objects ?? [];
  const { tmpfsBytes: bytes, uid, gid } = settings;
  const memory = { bytes, uid, gid };
  return [
    worktreeOf(spec),
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

function worktreeOf({ worktree, layers }: WorkerSpec): Mount {
  if (layers === null) return bind(worktree, INSIDE.worktree, false);
  return { kind: 'overlay', ...layers, upper: worktree, target: INSIDE.worktree };
}

/** Every live worker of a run. A paused one is alive: it may go on. A spare is none before it is taken. */
export async function listWorkers(engine: Engine, runId: string): Promise<WorkerHandle[]> {
  const found = await engine.listContainers(ofWorkers(runId));
  const live = found.filter(({ status }) => status === 'running' || status === 'paused');
  return live.filter((info) => !isSpare(info)).map(handleOf);
}

function startedContainer(handle: WorkerHandle, { engine, settings }: ContainerLauncherOptions): StartedContainer {
  const { runId, facts, containerId } = handle;
  const places = placesOf(facts);
  return {
    owner: runOwner({ ...places, runId, feature: String(facts['feature']), kind: settings.owner, repo: settings.repo }),
    id: containerId ?? '',
    createdAt: String(facts['started']),
    upkeep: workerUpkeep(places, engine, settings),
  };
}

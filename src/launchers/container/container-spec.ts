import path from 'node:path';
import type { ContainerSpec, Mount } from '../../engines/index.ts';
import { HANDOVER_MARK, INSIDE, MARKS } from '../../protocol/index.ts';
import type { WorkerSpec } from '../launcher.ts';
import { workerLabels } from '../../containers/labels.ts';
import { cleared } from '../../containers/image-variables.ts';
import type { ContainerSettings } from '../../containers/settings.ts';

/** What `docker logs` keeps of one container. */
const ENGINE_LOG_BYTES = 20 * 1024 * 1024;

/** For the worker program, and for a person with `docker exec`; tasks get the image's own. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The name people see first; the others are for when somebody has it: another run, or a life of this worker that is not gone yet. */
export function namesOf(spec: WorkerSpec): readonly [string, ...string[]] {
  const name = `mahabharatha-worker-${spec.worker}`;
  return [name, `${name}-${spec.runId}`, `${name}-${spec.runId}-${spec.session.slice(0, 8)}`];
}

export function egressVolume(runId: string): string {
  return `mahabharatha-egress-${runId}`;
}

/** What was found out about a worker's container before it is made. */
export interface Found {
  /** Object folders whose own list of alternates must not be seen inside. */
  readonly masked: readonly number[];
  /** What the image sets: for the tasks, and not for the worker's own program. */
  readonly imageEnv: Readonly<Record<string, string>>;
}

/** Pure: the container of one worker. */
export function containerSpec(
  name: string,
  spec: WorkerSpec,
  settings: ContainerSettings,
  { masked, imageEnv }: Found,
): ContainerSpec {
  const { uid, gid, memoryBytes, cpus, pids, diskBytes, runtime, network } = settings;
  return {
    name,
    image: settings.image,
    command: [],
    env: {
      ...cleared(imageEnv),
      PATH: SYSTEM_PATH,
      HOME: INSIDE.home,
      [HANDOVER_MARK]: 'stdin',
      [MARKS.run]: spec.runId,
      [MARKS.session]: spec.session,
      [MARKS.worker]: String(spec.worker),
    },
    uid,
    gid,
    workdir: INSIDE.worktree,
    hostname: hostnameOf(spec),
    labels: workerLabels(spec, settings.repo),
    mounts: mountsOf(spec, settings, masked),
    network,
    memoryBytes,
    cpus,
    pids,
    fileBytes: diskBytes,
    stdin: true,
    runtime,
    logBytes: ENGINE_LOG_BYTES,
  };
}

function mountsOf(spec: WorkerSpec, settings: ContainerSettings, masked: readonly number[]): Mount[] {
  const objects = spec.privateGit?.objects ?? [];
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
    tmpfs('/tmp', 0o1777, settings),
    tmpfs(INSIDE.home, 0o700, settings),
    ...(settings.egress !== null
      ? [{ kind: 'volume' as const, name: egressVolume(spec.runId), target: INSIDE.egress, readOnly: true }]
      : []),
    ...settings.caches.map(({ volume, target }) => ({
      kind: 'volume' as const,
      name: volume,
      target,
      readOnly: false,
    })),
    ...settings.mounts,
  ];
}

/** Stands in front of a file that nobody inside is to see; it is in the inbox, which only we write. */
export function emptyFile({ inbox }: Pick<WorkerSpec, 'inbox'>): string {
  return path.join(inbox, 'empty');
}

/** Known before there is a container, so that the worker's own names can be told to it. */
export function hostnameOf({ worker }: Pick<WorkerSpec, 'worker'>): string {
  return `worker-${worker}`;
}

/** What is called localhost, and by the worker's own name: an engine says it only to those that it gives a network. */
export function hostsFile({ inbox }: Pick<WorkerSpec, 'inbox'>): string {
  return path.join(inbox, 'hosts');
}

const bind = (source: string, target: string, readOnly: boolean): Mount => ({ kind: 'bind', source, target, readOnly });

/** Programs may run from it: they may run from the worktree anyway, and builds unpack tools there. */
const tmpfs = (target: string, mode: number, { tmpfsBytes: bytes, uid, gid }: ContainerSettings): Mount => ({
  kind: 'tmpfs',
  target,
  bytes,
  mode,
  uid,
  gid,
  exec: true,
});

import { libErrors } from '../../lib/index.ts';
import type { ContainerSpec, Mount, OverlayMount } from '../engine.ts';
import { SECCOMP_PROFILE, SECCOMP_WITHOUT_IPC_OBJECTS } from './seccomp.ts';

/** All containers of a machine share its 4096. */
const TERMINALS = 16;

/** The body of a request to create a container. What locks containers down is the same for all, and stands here. */
export function toCreateBody(spec: ContainerSpec) {
  return {
    Image: spec.image,
    // An entrypoint of the image could do anything before the command, and its health check is about another program.
    ...(spec.command.length === 0 ? {} : { Entrypoint: [...spec.command], Cmd: [], Healthcheck: { Test: ['NONE'] } }),
    // A name without a value removes the variable.
    Env: Object.entries(spec.env).map(([name, value]) => (value === null ? name : `${name}=${value}`)),
    User: userOf(spec),
    WorkingDir: spec.workdir,
    ...(spec.hostname === undefined ? {} : { Hostname: spec.hostname }),
    // As the network "none", which would take nearly half of the start. runc brings the loopback up by itself; another
    // runtime may leave that to the engine.
    NetworkDisabled: spec.network === 'none' && spec.runtime === null,
    Labels: { ...spec.labels },
    Tty: false,
    AttachStdin: spec.stdin,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: spec.stdin,
    // Stdin ends with its one attachment, also when the attached process is killed.
    StdinOnce: spec.stdin,
    HostConfig: toHostConfig(spec),
  };
}

function toHostConfig(spec: ContainerSpec) {
  // Another runtime has terminals of its own.
  const terminals = spec.runtime === null ? [TERMINAL_MOUNT] : [];
  const isFree = ({ target }: Mount): boolean => terminals.every(({ Target }) => Target !== target);
  const inMemory = spec.mounts.flatMap((mount) => (mount.kind === 'tmpfs' && isFree(mount) ? [mount] : []));
  return {
    // An image's own command brings its own init: the engine's can be traced by every process of its user.
    Init: spec.command.length > 0,
    AutoRemove: true,
    Privileged: false,
    CapDrop: ['ALL'],
    ...(spec.switchesUsers === true ? { CapAdd: ['SETUID', 'SETGID', 'KILL'] } : {}),
    ...(spec.givesFiles === true ? { CapAdd: ['CHOWN'] } : {}),
    SecurityOpt: [
      'no-new-privileges',
      `seccomp=${spec.withoutIpcObjects === true ? SECCOMP_WITHOUT_IPC_OBJECTS : SECCOMP_PROFILE}`,
    ],
    ReadonlyRootfs: true,
    IpcMode: 'private',
    NetworkMode: spec.network,
    PidsLimit: spec.pids,
    Memory: spec.memoryBytes,
    MemorySwap: spec.memoryBytes,
    Ulimits: [
      { Name: 'fsize', Soft: spec.fileBytes, Hard: spec.fileBytes },
      NO_DUMPS,
      ...Object.entries(SHARED_LIMITS).map(([Name, limit]) => ({ Name, Soft: limit, Hard: limit })),
    ],
    NanoCpus: Math.round(spec.cpus * 1e9),
    LogConfig: toLogConfig(spec.logBytes),
    Tmpfs: Object.fromEntries(inMemory.map(toTmpfs)),
    Mounts: [...terminals, ...spec.mounts.flatMap((mount) => (mount.kind === 'tmpfs' ? [] : [toMount(mount)]))],
    ...(spec.runtime === null ? {} : { Runtime: spec.runtime }),
  };
}

/**
 * Many machines pipe the dump of a crash, also of one in a container, to a program that runs as root outside of all
 * containers. A limit of 0 bytes does not keep the kernel from that, a limit of 1 does.
 */
const NO_DUMPS = { Name: 'core', Soft: 1, Hard: 1 } as const;

/** The kernel counts these per user, over all containers and the person's own programs: far below that user's limits. */
const SHARED_LIMITS = { sigpending: 4096, msgqueue: 204_800 } as const;

/** Replaces the engine's own, which has no limit. A volume without a name is removed with its container. */
const TERMINAL_MOUNT = {
  Type: 'volume',
  Target: '/dev/pts',
  ReadOnly: false,
  VolumeOptions: {
    NoCopy: true,
    DriverConfig: {
      Name: 'local',
      Options: {
        type: 'devpts',
        device: 'devpts',
        o: `newinstance,nosuid,noexec,ptmxmode=0666,mode=0620,max=${TERMINALS}`,
      },
    },
  },
};

function userOf({ name, uid, gid, switchesUsers, givesFiles }: ContainerSpec): string {
  if (switchesUsers === true || givesFiles === true) return '0:0';
  for (const id of [uid, gid]) {
    if (!Number.isInteger(id) || id <= 0) {
      throw libErrors.INTERNAL({ what: `container ${name} would run as ${uid}:${gid}` });
    }
  }
  return `${uid}:${gid}`;
}

/** Two files: when the newer one is full, the older one is dropped. The end of the output is always kept. */
function toLogConfig(bytes: number | null) {
  if (bytes === null) return { Type: 'none', Config: {} };
  return { Type: 'json-file', Config: { 'max-size': String(Math.ceil(bytes / 2)), 'max-file': '2' } };
}

/** Empty files count for no bytes of a folder in memory, and take memory: without a limit they use up the container's. */
const BYTES_PER_NAME = 2048;
const FEWEST_NAMES = 1024;

function toTmpfs({ target, bytes, mode, uid, gid, exec }: Mount & { kind: 'tmpfs' }): [string, string] {
  const options = [exec ? 'exec' : 'noexec', 'nosuid', 'nodev', `size=${bytes}`, `mode=${mode.toString(8)}`];
  const names = Math.max(FEWEST_NAMES, Math.floor(bytes / BYTES_PER_NAME));
  return [target, ['rw', ...options, `nr_inodes=${names}`, `uid=${uid}`, `gid=${gid}`].join(',')];
}

/** As `Mounts`, since with `Binds` the engine creates a missing source, as root. */
function toMount(mount: Exclude<Mount, { kind: 'tmpfs' }>) {
  if (mount.kind === 'overlay') return toOverlay(mount);
  const { target: Target, readOnly: ReadOnly } = mount;
  if (mount.kind === 'volume') return { Type: 'volume', Source: mount.name, Target, ReadOnly };
  // Older engines leave file systems below a read-only bind writable, so those are left out.
  const options = { Propagation: 'rprivate', CreateMountpoint: false, NonRecursive: ReadOnly };
  return { Type: 'bind', Source: mount.source, Target, ReadOnly, BindOptions: options };
}

/** A volume without a name, which the engine removes with its container. Without a copy: the image has nothing there. */
function toOverlay({ lower, upper, work, target }: OverlayMount) {
  const o = `lowerdir=${lower.join(':')},upperdir=${upper},workdir=${work}`;
  const DriverConfig = { Name: 'local', Options: { type: 'overlay', device: 'overlay', o } };
  return { Type: 'volume', Target: target, ReadOnly: false, VolumeOptions: { NoCopy: true, DriverConfig } };
}

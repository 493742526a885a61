import { libErrors } from '../../lib/index.ts';
import type { ContainerSpec, Mount } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { labelArguments } from './labels.ts';
import type { Version } from './version.ts';

const MEGABYTE = 1_048_576;
/** The program refuses less. */
const LEAST_MEGABYTES = 200;

/** The arguments that create a container. What locks containers down is the same for all, and stands here. */
export function toCreateArguments(spec: ContainerSpec, version: Version): string[] {
  const [program, ...rest] = toCommand(spec);
  return [
    'create',
    '--rm',
    '--read-only',
    ...(spec.command.length > 0 ? ['--init'] : []),
    ...(spec.stdin ? ['--interactive'] : []),
    '--name',
    spec.name,
    ...userArguments(spec),
    '--workdir',
    spec.workdir,
    '--cpus',
    String(Math.max(1, Math.ceil(spec.cpus))),
    '--memory',
    `${Math.max(LEAST_MEGABYTES, Math.ceil(spec.memoryBytes / MEGABYTE))}M`,
    ...(spec.network === 'none' ? ['--network', 'none', '--no-dns'] : []),
    ...(version.confines ? confinement(spec) : []),
    ...Object.entries(spec.env).flatMap(([name, value]) => (value === null ? [] : ['--env', `${name}=${value}`])),
    ...spec.mounts.flatMap((mount) => toMount(mount, spec.name)),
    ...labelArguments(spec.labels),
    ...(program === undefined ? [] : ['--entrypoint', program]),
    spec.image,
    ...rest,
  ];
}

/** A variable of the image can only be removed by a program in the container. */
function toCommand({ command, env }: ContainerSpec): readonly string[] {
  return command.length === 0 ? [] : withoutVariables(command, env);
}

export function withoutVariables(
  command: readonly string[],
  env: Readonly<Record<string, string | null>>,
): readonly string[] {
  const removed = Object.entries(env).flatMap(([name, value]) => (value === null ? ['-u', name] : []));
  return removed.length === 0 ? command : ['env', ...removed, ...command];
}

function userArguments({ name, uid, gid, switchesUsers }: ContainerSpec): string[] {
  if (switchesUsers === true) return ['--uid', '0', '--gid', '0'];
  for (const id of [uid, gid]) {
    if (!Number.isInteger(id) || id <= 0) {
      throw libErrors.INTERNAL({ what: `container ${name} would run as ${uid}:${gid}` });
    }
  }
  return ['--uid', String(uid), '--gid', String(gid)];
}

function confinement({ switchesUsers, fileBytes, pids }: ContainerSpec): string[] {
  const kept = switchesUsers === true ? ['CAP_SETUID', 'CAP_SETGID', 'CAP_KILL'] : [];
  // The kernel counts the processes of each user of the virtual machine.
  const limits = { nproc: pids, fsize: fileBytes, core: 0 };
  return [
    '--cap-drop',
    'ALL',
    ...kept.flatMap((right) => ['--cap-add', right]),
    ...Object.entries(limits).flatMap(([name, limit]) => ['--ulimit', `${name}=${limit}:${limit}`]),
  ];
}

function toMount(mount: Mount, container: string): string[] {
  const refused = (reason: string): never => {
    throw engineErrors.ENGINE_FAILED({ call: `create container ${container}`, reason });
  };
  switch (mount.kind) {
    case 'overlay':
      return refused('Apple\'s "container" mounts no overlays');
    case 'tmpfs':
      return ['--mount', `type=tmpfs,destination=${mount.target},size=${megabytes(mount.bytes)},mode=${modeOf(mount)}`];
    case 'volume':
      return ['--mount', `type=volume,source=${mount.name},destination=${mount.target}${readOnly(mount)}`];
    case 'bind':
      // Each of the two forms has signs that part it, and no way to write them.
      if (!/[,=]/.test(mount.source + mount.target))
        return ['--mount', `type=bind,source=${mount.source},destination=${mount.target}${readOnly(mount)}`];
      if (mount.source.includes(':')) refused(`"${mount.source}" has both ":" and one of ",=" in its name`);
      return ['--volume', `${mount.source}:${mount.target}${mount.readOnly ? ':ro' : ''}`];
  }
}

const readOnly = (mount: { readonly readOnly: boolean }): string => (mount.readOnly ? ',readonly' : '');

const megabytes = (bytes: number): string => `${Math.max(1, Math.ceil(bytes / MEGABYTE))}M`;

const EVERYONE = 0o1777;

/** Such a folder belongs to root, so that its owner would not be let in: all users of the virtual machine are. */
const modeOf = ({ mode, uid }: Mount & { kind: 'tmpfs' }): string => (uid === 0 ? mode : EVERYONE).toString(8);

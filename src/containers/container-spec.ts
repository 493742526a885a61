import type { ContainerSpec, Mount } from '../engines/index.ts';
import { INSIDE } from '../protocol/index.ts';
import type { ContainerWish } from './container-wish.ts';
import { egressVolume } from './egress-key.ts';
import { withoutVariables, withoutVolumes } from './image-defaults.ts';
import type { ImageDefaults } from './image-defaults.ts';
import { LABEL } from './labels.ts';
import { ownerLabels } from './owner.ts';

/** What `docker logs` keeps of one container. */
const ENGINE_LOG_BYTES = 20 * 1024 * 1024;

/** For the first program, and for a person with `docker exec`. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Pure. */
export function containerSpec(name: string, wish: ContainerWish, defaults: ImageDefaults): ContainerSpec {
  const { image, command, uid, gid, workdir, network, memoryBytes, cpus, pids, runtime, upkeep } = wish;
  return {
    name,
    image,
    command,
    env: { ...withoutVariables(defaults), PATH: SYSTEM_PATH, ...wish.env },
    uid,
    gid,
    workdir,
    ...(wish.hostname === undefined ? {} : { hostname: wish.hostname }),
    labels: {
      ...ownerLabels(wish.owner),
      ...wish.labels,
      [LABEL.role]: wish.role,
      [LABEL.session]: wish.session,
    },
    mounts: withoutVolumes(defaults, [...wish.mounts, ...(wish.client === null ? [] : [egressMount(wish)])], {
      bytes: memoryBytes,
      uid,
      gid,
    }),
    network,
    memoryBytes,
    cpus,
    pids,
    fileBytes: upkeep.disk.bytes,
    stdin: true,
    runtime,
    logBytes: ENGINE_LOG_BYTES,
  };
}

function egressMount({ owner }: ContainerWish): Mount {
  return { kind: 'volume', name: egressVolume(owner.id), target: INSIDE.egress, readOnly: true };
}

export function bind(source: string, target: string, readOnly: boolean): Mount {
  return { kind: 'bind', source, target, readOnly };
}

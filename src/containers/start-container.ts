import { engineErrors } from '../engines/errors.ts';
import type { ContainerInfo, ContainerSpec, Engine, ImageInfo, Mount } from '../engines/index.ts';
import { hasCode, libErrors } from '../lib/index.ts';
import { INSIDE } from '../protocol/index.ts';
import { tmpfs } from './container-wish.ts';
import type { ContainerWish, Proofs, Upkeep } from './container-wish.ts';
import { egressVolume } from './egress-key.ts';
import type { Output } from './output.ts';
import { LABEL, ownerLabels } from './owner.ts';
import { removeForSure } from './removal.ts';

/** What `docker logs` keeps of one container. */
const ENGINE_LOG_BYTES = 20 * 1024 * 1024;

/** For the first program, and for a person with `docker exec`. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What an image sets for its containers. */
type ImageDefaults = Pick<ImageInfo, 'env' | 'volumes'>;

export type StartWish = Omit<ContainerWish, 'upkeep'>;

interface Starting extends Proofs {
  readonly keep: Upkeep['keep'];
  /** Its first line comes later. */
  readonly waits?: boolean;
}

interface Started {
  readonly info: ContainerInfo;
  readonly output: Output;
  /** Writes its first line. */
  tell(): Promise<void>;
}

/** Makes a container, attaches to it, starts it and writes its first line: in this order no output is missed. */
export async function startContainer(
  engine: Engine,
  wish: StartWish,
  { keep, waits = false, ...proofs }: Starting,
): Promise<Started> {
  const defaults = (await engine.inspectImage(wish.image)) ?? { env: {}, volumes: [] };
  const id = await underFreeName(wish.names, (name) => engine.createContainer(containerSpec(name, wish, defaults)));
  try {
    const [info, attachment] = await Promise.all([engine.inspectContainer(id), engine.attach(id)]);
    if (info === undefined) throw libErrors.INTERNAL({ what: `container ${id} is gone before its start` });
    const output = keep(attachment);
    attachment.stdin.on('error', () => undefined);
    const tell = async (): Promise<void> => {
      const line = await wish.firstLine?.({ ...proofs, imageEnv: defaults.env });
      if (line !== undefined) attachment.stdin.write(`${line}\n`);
    };
    await Promise.all([waits ? undefined : tell(), engine.startContainer(id)]);
    return { info, output, tell };
  } catch (error) {
    await removeForSure(engine, id);
    throw error;
  }
}

/** Takes the first name that is free. */
export async function underFreeName<Result>(
  names: ContainerWish['names'],
  take: (name: string) => Promise<Result>,
): Promise<Result> {
  let taken: unknown;
  for (const name of names) {
    try {
      return await take(name);
    } catch (error) {
      if (!hasCode(error, engineErrors.CONTAINER_NAME_TAKEN)) throw error;
      taken = error;
    }
  }
  throw taken;
}

/** Pure. */
export function containerSpec(name: string, wish: StartWish, defaults: ImageDefaults): ContainerSpec {
  const { image, command, uid, gid, workdir, hostname, network, memoryBytes, cpus, pids, fileBytes, runtime } = wish;
  const egress: Mount = { kind: 'volume', name: egressVolume(wish.owner.id), target: INSIDE.egress, readOnly: true };
  const mounts = wish.client === null ? wish.mounts : [...wish.mounts, egress];
  // NODE_OPTIONS and its kin would run the image's code in our programs.
  const withoutImages = Object.fromEntries(Object.keys(defaults.env).map((variable) => [variable, null]));
  // An image's volumes would be on the disk, where no limit counts: they are in memory instead.
  const volumes = defaults.volumes.filter((folder) => mounts.every(({ target }) => target !== folder));
  const inMemory = volumes.map((folder) => tmpfs(folder, 0o700, { bytes: memoryBytes, uid, gid }));
  return {
    name,
    image,
    command,
    env: { ...withoutImages, PATH: SYSTEM_PATH, ...wish.env },
    uid,
    gid,
    ...(wish.switchesUsers === true ? { switchesUsers: true } : {}),
    ...(wish.withoutIpcObjects === true ? { withoutIpcObjects: true } : {}),
    workdir,
    ...(hostname === undefined ? {} : { hostname }),
    labels: { ...ownerLabels(wish.owner), ...wish.labels, [LABEL.role]: wish.role, [LABEL.session]: wish.session },
    mounts: [...mounts, ...inMemory],
    network,
    memoryBytes,
    cpus,
    pids,
    fileBytes,
    stdin: true,
    runtime,
    logBytes: ENGINE_LOG_BYTES,
  };
}

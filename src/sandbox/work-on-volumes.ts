import type { Engine, Labels, Mount } from '../engines/index.ts';
import { sandboxErrors } from './errors.ts';

const MEMORY_BYTES = 128 * 1024 ** 2;

interface Work {
  /** That of the sandbox agent. */
  readonly image: string;
  /** Of the container. */
  readonly name: string;
  readonly labels: Labels;
  readonly mounts: readonly Mount[];
  readonly command: readonly [string, ...string[]];
  readonly uid: number;
  /** It runs as root, in place of that user, and gives files to others. */
  readonly givesFiles?: boolean;
  /** What it is for, for the error. */
  readonly what: string;
}

export interface VolumeWork extends Omit<Work, 'mounts'> {
  readonly volumes: readonly { readonly name: string; readonly target: string }[];
}

/**
 * Runs a program with volumes in a container of its own. When the container is made, the engine gives an empty volume the
 * content, the owner and the rights of the folder of the image that it covers. Throws SANDBOX_NOT_READY.
 */
export async function workOnVolumes(engine: Engine, { volumes, ...work }: VolumeWork): Promise<void> {
  const mounts = volumes.map((volume) => ({ kind: 'volume', ...volume, readOnly: false }) as const);
  await workInContainer(engine, { ...work, mounts });
}

/** Runs a program of the agent's image in a container of its own. Throws SANDBOX_NOT_READY. */
export async function workInContainer(engine: Engine, work: Work): Promise<void> {
  const container = await engine.createContainer(specOf(work));
  const end = engine.waitContainer(container);
  end.catch(() => undefined);
  try {
    await engine.startContainer(container);
    const { code } = await end;
    if (code === 0) return;
    const reason = `${work.what} (exit status ${code ?? 'unknown'})`;
    throw sandboxErrors.SANDBOX_NOT_READY({ image: work.image, reason });
  } finally {
    await engine.removeContainer(container);
  }
}

function specOf({
  image,
  name,
  labels,
  mounts,
  command,
  uid,
  givesFiles,
}: Work): Parameters<Engine['createContainer']>[0] {
  return {
    name,
    image,
    command,
    env: {},
    uid,
    gid: uid,
    ...(givesFiles === true ? { givesFiles } : {}),
    workdir: '/',
    labels,
    mounts,
    network: 'none',
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
    pids: 32,
    fileBytes: MEMORY_BYTES,
    stdin: false,
    runtime: null,
    logBytes: null,
  };
}

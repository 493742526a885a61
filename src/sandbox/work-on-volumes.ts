import type { Engine, Labels } from '../engines/index.ts';
import { sandboxErrors } from './errors.ts';

const MEMORY_BYTES = 128 * 1024 ** 2;

export interface VolumeWork {
  /** That of the sandbox agent. */
  readonly image: string;
  /** Of the container. */
  readonly name: string;
  readonly labels: Labels;
  readonly volumes: readonly { readonly name: string; readonly target: string }[];
  readonly command: readonly [string, ...string[]];
  readonly uid: number;
  /** What it is for, for the error. */
  readonly what: string;
}

/**
 * Runs a program with volumes in a container of its own. When the container is made, the engine gives an empty volume the
 * content, the owner and the rights of the folder of the image that it covers. Throws SANDBOX_NOT_READY.
 */
export async function workOnVolumes(engine: Engine, work: VolumeWork): Promise<void> {
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

function specOf({ image, name, labels, volumes, command, uid }: VolumeWork): Parameters<Engine['createContainer']>[0] {
  return {
    name,
    image,
    command,
    env: {},
    uid,
    gid: uid,
    workdir: '/',
    labels,
    mounts: volumes.map((volume) => ({ kind: 'volume', ...volume, readOnly: false })),
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

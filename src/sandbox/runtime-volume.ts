import { LABEL } from '../containers/index.ts';
import type { Engine } from '../engines/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';

/** For one start of a container, which a slow engine may take long for. */
const MEMORY_BYTES = 128 * 1024 ** 2;

export interface RuntimeImage {
  readonly tag: string;
  /** The engine's id of it. */
  readonly id: string;
}

/**
 * The volume with Node and the sandbox agent, which stock images get mounted. The engine fills a new volume from the image
 * that is mounted over; the agent's own answer proves that it is whole.
 */
export async function runtimeVolume(engine: Engine, { tag, id }: RuntimeImage): Promise<string> {
  const name = `mahabharatha-runtime-${id.replace('sha256:', '').slice(0, 16)}`;
  const labels = { [LABEL.role]: 'runtime' };
  const known = await engine.listVolumes(labels);
  if (known.some((volume) => volume.name === name)) return name;
  await engine.createVolume(name, labels);
  try {
    await fill(engine, tag, name);
    return name;
  } catch (error) {
    await engine.removeVolume(name).catch(() => undefined);
    throw error;
  }
}

async function fill(engine: Engine, tag: string, volume: string): Promise<void> {
  const container = await engine.createContainer({
    name: `${volume}-fill-${process.pid}`,
    image: tag,
    command: [`${SANDBOX.runtime}/node`, '--check', `${SANDBOX.runtime}/sandbox-agent.mjs`],
    env: {},
    uid: 65_534,
    gid: 65_534,
    workdir: '/',
    labels: { [LABEL.role]: 'runtime' },
    mounts: [{ kind: 'volume', name: volume, target: SANDBOX.runtime, readOnly: false }],
    network: 'none',
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
    pids: 32,
    fileBytes: MEMORY_BYTES,
    stdin: false,
    runtime: null,
    logBytes: null,
  });
  const end = engine.waitContainer(container);
  end.catch(() => undefined);
  await engine.startContainer(container);
  const { code } = await end;
  if (code !== 0)
    throw sandboxErrors.SANDBOX_NOT_READY({
      image: tag,
      reason: `its runtime could not be read (exit status ${code})`,
    });
}

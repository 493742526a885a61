import { engineErrors } from '../engines/errors.ts';
import type { ContainerInfo, ContainerSpec, Engine } from '../engines/index.ts';
import { hasCode, libErrors } from '../lib/index.ts';
import { containerSpec } from './container-spec.ts';
import type { ContainerWish } from './container-wish.ts';
import { defaultsOf } from './image-defaults.ts';
import type { Output } from './output.ts';
import { removeForSure } from './removal.ts';

/** Made, listened to, started, and given its first line: in this order nothing of its output is missed. */
export async function startContainer(
  engine: Engine,
  wish: ContainerWish,
  token: string | null,
): Promise<{ info: ContainerInfo; output: Output }> {
  const defaults = await defaultsOf(engine, wish.image);
  const id = await createUnderFreeName(engine, wish.names, (name) => containerSpec(name, wish, defaults));
  try {
    const [info, attachment] = await Promise.all([engine.inspectContainer(id), engine.attach(id)]);
    if (info === undefined) throw libErrors.INTERNAL({ what: `container ${id} is gone before its start` });
    const output = wish.upkeep.keep(attachment);
    attachment.stdin.on('error', () => undefined);
    const tell = async (): Promise<void> => {
      const line = await wish.firstLine?.({ token, imageEnv: defaults.env });
      if (line !== undefined) attachment.stdin.write(`${line}\n`);
    };
    await Promise.all([tell(), engine.startContainer(id)]);
    return { info, output };
  } catch (error) {
    await removeForSure(engine, id);
    throw error;
  }
}

async function createUnderFreeName(
  engine: Engine,
  names: ContainerWish['names'],
  specFor: (name: string) => ContainerSpec,
): Promise<string> {
  let taken: unknown;
  for (const name of names) {
    try {
      return await engine.createContainer(specFor(name));
    } catch (error) {
      if (!hasCode(error, engineErrors.CONTAINER_NAME_TAKEN)) throw error;
      taken = error;
    }
  }
  throw taken;
}

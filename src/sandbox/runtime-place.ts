import type { Engine, EngineInfo } from '../engines/index.ts';
import { runtimeFolder } from './runtime-folder.ts';
import { runtimeVolumeKeeper } from './runtime-volume.ts';
import type { RuntimeImage } from './runtime-volume.ts';

/** What sandboxes of any image get mounted: Node and the sandbox agent. */
export type RuntimePlace =
  | { readonly kind: 'volume'; readonly name: string }
  | { readonly kind: 'bind'; readonly source: string };

/** Looks each time. A volume, or a folder below `folder` where the engine gives a volume to one container at a time. */
export function runtimeKeeper(
  engine: Engine,
  image: RuntimeImage,
  { folder, lacks }: { readonly folder: string } & Pick<EngineInfo, 'lacks'>,
): () => Promise<RuntimePlace> {
  if (lacks.includes('volumes-for-many'))
    return async () => ({ kind: 'bind', source: await runtimeFolder(engine, image, folder) });
  const volume = runtimeVolumeKeeper(engine, image);
  return async () => ({ kind: 'volume', name: await volume() });
}

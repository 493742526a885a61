import type { ContainerSpec, Engine, ImageInfo, Mount } from '../engines/index.ts';
import { tmpfs } from './tmpfs.ts';

/** What an image gives its containers unasked. */
export type ImageDefaults = Pick<ImageInfo, 'env' | 'volumes'>;

export async function defaultsOf(engine: Engine, image: string): Promise<ImageDefaults> {
  const { env, volumes } = (await engine.inspectImage(image)) ?? { env: {}, volumes: [] };
  return { env, volumes };
}

/** Takes away what an image sets: NODE_OPTIONS and its kin would run the image's code in our programs. */
export function withoutVariables({ env }: ImageDefaults): ContainerSpec['env'] {
  return Object.fromEntries(Object.keys(env).map((name) => [name, null]));
}

/** The mounts, and memory in the place of volumes of the image: what is written to those is on the disk, and counts nowhere. */
export function withoutVolumes(
  { volumes }: ImageDefaults,
  mounts: readonly Mount[],
  room: Parameters<typeof tmpfs>[2],
): readonly Mount[] {
  const free = volumes.filter((folder) => mounts.every(({ target }) => target !== folder));
  return [...mounts, ...free.map((folder) => tmpfs(folder, 0o700, room))];
}

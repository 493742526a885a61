import type { BuiltImage } from './build-images.ts';
import type { ImageEngine, Labels } from './image-engine.ts';
import { CHECKOUT_LABEL, checkoutKey } from './repository-parts.ts';
import { supersededRepositoryImages, supersededWorkers, toRemove } from './superseded.ts';
import type { Present, Superseded } from './superseded.ts';
import { VERSION_LABEL } from './worker-image.ts';

interface Removal {
  readonly built: readonly BuiltImage[];
  /** The `.mahabharatha` folder of the user's repository; null when there is none. */
  readonly project: string | null;
  /** In ms since 1970. */
  readonly now: number;
  readonly signal?: AbortSignal;
}

/**
 * After a build: what it has superseded, and nobody uses, goes. What cannot be seen or removed stays for the next time;
 * it is no error, the images that were wanted are there. The engine itself refuses what a container has.
 */
export async function removeSuperseded(engine: ImageEngine, removal: Removal): Promise<Superseded[]> {
  const removed: Superseded[] = [];
  // A repository's image first: the worker image below it is free only then.
  for (const image of removal.built.toReversed()) {
    const found = await orNothing(() => supersededBy(engine, image, removal));
    for (const one of found ?? []) {
      if (removal.signal?.aborted === true) return removed;
      const gone = await orNothing(() => remove(engine, one));
      if (gone !== undefined) removed.push(gone);
    }
  }
  return removed;
}

async function supersededBy(
  engine: ImageEngine,
  { kind, id, replaced }: BuiltImage,
  { project, now }: Removal,
): Promise<Superseded[]> {
  const current = await engine.inspectImage(id);
  if (current === undefined) return [];
  const present = async (labels: Labels): Promise<Present> => ({
    current,
    listed: await engine.listImages(labels),
    now,
  });
  const nameless = await namelessImage(engine, kind, replaced);
  if (kind === 'worker') {
    const sameVersion = { [VERSION_LABEL]: current.labels[VERSION_LABEL] ?? '' };
    return [...nameless, ...supersededWorkers(await present(sameVersion))];
  }
  const checkout = checkoutKey(project ?? '');
  return [...nameless, ...supersededRepositoryImages(await present({ [CHECKOUT_LABEL]: checkout }), checkout)];
}

/** What has lost its name to an image of the same content: whoever wants that name gets the new one. */
async function namelessImage(
  engine: ImageEngine,
  kind: Superseded['kind'],
  replaced: string | null,
): Promise<Superseded[]> {
  const image = replaced === null ? undefined : await engine.inspectImage(replaced);
  if (image === undefined || image.tags.length > 0) return [];
  return [toRemove(kind, image, image.id)];
}

/** Looked at once more right before: others may have chosen it meanwhile. Undefined when it stays. */
async function remove(engine: ImageEngine, one: Superseded): Promise<Superseded | undefined> {
  const still = await engine.inspectImage(one.name);
  if (still?.id !== one.id || still.namedAt !== one.namedAt) return undefined;
  await engine.removeImage(one.name);
  const left = await engine.inspectImage(one.id);
  return left === undefined ? one : { ...one, bytes: 0 };
}

async function orNothing<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

import type { BuiltImage } from './build-images.ts';
import type { ImageEngine, Labels } from './image-engine.ts';
import { CHECKOUT_LABEL, checkoutKey } from './repository-parts.ts';
import { mayGo, supersededRepositoryImages, supersededWorkers } from './superseded.ts';
import type { Present, Superseded } from './superseded.ts';
import { VERSION_LABEL } from './worker-image.ts';

export interface Removed extends Superseded {
  /** Only our name, when the image is still there: it has somebody else's too, or another image is built on it. */
  readonly what: 'image' | 'name';
  /** Also of what it shares with others. */
  readonly bytes: number;
}

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
export async function removeSuperseded(engine: ImageEngine, removal: Removal): Promise<Removed[]> {
  const removed: Removed[] = [];
  // A repository's image first: the worker image below it is free only then.
  for (const image of removal.built.toReversed()) {
    const found = await orNothing(() => supersededBy(engine, image, removal));
    for (const one of found ?? []) {
      if (removal.signal?.aborted === true) return removed;
      const gone = await orNothing(() => remove(engine, one, removal.now));
      if (gone !== undefined) removed.push(gone);
    }
  }
  return removed;
}

async function supersededBy(
  engine: ImageEngine,
  { kind, id, replaced }: BuiltImage,
  { project }: Removal,
): Promise<Superseded[]> {
  const current = await engine.inspectImage(id);
  if (current === undefined) return [];
  const present = async (labels: Labels): Promise<Present> => ({ current, listed: await engine.listImages(labels) });
  // What has lost its name to an image of the same content: whoever wants that name gets the new one.
  const nameless = replaced === null ? [] : [{ kind, name: replaced, id: replaced }];
  if (kind === 'worker') {
    const sameVersion = { [VERSION_LABEL]: current.labels[VERSION_LABEL] ?? '' };
    return [...nameless, ...supersededWorkers(await present(sameVersion))];
  }
  const checkout = checkoutKey(project ?? '');
  return [...nameless, ...supersededRepositoryImages(await present({ [CHECKOUT_LABEL]: checkout }), checkout)];
}

/** Looked at right before: others may have chosen it meanwhile. Undefined when it stays. */
async function remove(engine: ImageEngine, one: Superseded, now: number): Promise<Removed | undefined> {
  const still = await engine.inspectImage(one.name);
  if (still === undefined || !mayGo(one, still, now)) return undefined;
  await engine.removeImage(one.name);
  // One that is just going cannot be looked at.
  const left = await orNothing(() => engine.inspectImage(one.id));
  return { ...one, bytes: still.bytes, what: left === undefined ? 'image' : 'name' };
}

async function orNothing<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

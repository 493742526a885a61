import { hashValues, tagOf } from './content.ts';
import type { ImageInfo, ListedImage } from './image-engine.ts';
import { partsOf } from './parts.ts';
import { ownTag } from './repository-image.ts';
import { CHECKOUT_LABEL } from './repository-parts.ts';
import { CONTENT_LABEL, WORKER_IMAGE } from './worker-image.ts';

/**
 * Several checkouts may use one engine, each with its own content: to each of them the others' images look superseded.
 * Who builds or chooses an image names it anew, so one that nobody has named for a day is nobody's. A wall clock that is a
 * day ahead takes one too early: then it is built again.
 */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

export interface Superseded {
  readonly kind: 'worker' | 'repository';
  /** What is to be taken away: a name of ours, or the id of an image that has lost its name to what was built. */
  readonly name: string;
  readonly id: string;
}

/** The image that was built, and what else is there. */
export interface Present {
  readonly current: ImageInfo;
  readonly listed: readonly ListedImage[];
}

/** Pure. Worker images of the same version for the same platform whose content is another one. */
export function supersededWorkers({ current, listed }: Present): Superseded[] {
  const wanted = partsOf(current.labels);
  return listed
    .filter((image) => image.id !== current.id && isWorkerImage(image))
    .filter(({ labels }) => partsOf(labels)?.version === wanted?.version && samePlatform(labels, current.labels))
    .flatMap((image) => named('worker', image, tagOf(WORKER_IMAGE, image.labels[CONTENT_LABEL] ?? '')));
}

/** Pure. Images of other content for the same checkout and platform. */
export function supersededRepositoryImages({ current, listed }: Present, checkout: string): Superseded[] {
  return listed
    .filter(({ id, labels }) => id !== current.id && labels[CHECKOUT_LABEL] === checkout)
    .filter(({ labels }) => samePlatform(labels, current.labels))
    .flatMap((image) => named('repository', image, ownTag(image)));
}

/** Pure. Is it, as it is right before it goes, still that image, and does nobody want it by that name? */
export function mayGo({ name, id }: Superseded, still: ImageInfo | undefined, now: number): boolean {
  if (still?.id !== id) return false;
  return name === id ? still.tags.length === 0 : now - Date.parse(still.namedAt) > FORGOTTEN_MS;
}

/** What somebody builds on a worker image inherits its labels; only the repository's own content is another one. */
function isWorkerImage({ labels }: ListedImage): boolean {
  const parts = partsOf(labels);
  return parts !== undefined && hashValues(parts) === labels[CONTENT_LABEL];
}

const samePlatform = (one: ImageInfo['labels'], other: ImageInfo['labels']): boolean =>
  partsOf(one)?.platform === partsOf(other)?.platform;

/** By the name that our build has given it: what was built on it inherits its labels, and is somebody else's. */
function named(kind: Superseded['kind'], image: ListedImage, name: string): Superseded[] {
  return image.tags.includes(name) ? [{ kind, name, id: image.id }] : [];
}

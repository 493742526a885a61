import { libErrors } from '../lib/index.ts';
import { contextFile, hashFiles, hashValues, tagOf } from './content.ts';
import type { ContextFile } from './content.ts';
import type { ImageBuild, ImageEngine, ListedImage } from './image-engine.ts';
import { CONTENT_LABEL, VERSION_LABEL } from './labels.ts';
import { partsLabel } from './parts.ts';
import type { Parts } from './parts.ts';
import {
  CHECKOUT_LABEL,
  checkoutKey,
  ownPartsLabel,
  repositoryDifferences,
  repositoryPartsOf,
} from './repository-parts.ts';
import type { RepositoryParts } from './repository-parts.ts';
import { WORKER_IMAGE } from './worker-image.ts';
import type { ImageState } from './worker-image.ts';

export const REPOSITORY_IMAGE = 'mahabharatha-repository';
/** In the user's repository; its companions are in the folder beside it. */
export const REPOSITORY_DOCKERFILE = 'Dockerfile';
export const REPOSITORY_CONTEXT = 'docker';

/** The lines of the worker's Dockerfile that say who runs what, and where: from this comment to the next empty line. */
const WORKER_TAIL = /^# What makes it a worker.*\n(?:.+\n)*/m;
const FROM = /^\s*FROM\s+(?:--platform=\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?\s*$/i;

export interface RepositoryIngredients {
  readonly version: string;
  /** As the user wrote it. */
  readonly dockerfile: string;
  readonly companions: readonly ContextFile[];
  /** Content tag of the worker image that it is built on. */
  readonly worker: string;
  readonly workerParts: Parts;
  /** The `.mahabharatha` folder that describes it. */
  readonly folder: string;
  /** The worker's own Dockerfile. */
  readonly workerDockerfile: string;
}

export interface RepositoryImagePlan {
  readonly tag: string;
  readonly content: string;
  readonly version: string;
  readonly checkout: string;
  readonly parts: RepositoryParts;
  readonly files: readonly ContextFile[];
}

/**
 * Pure: the repository's own toolchain on top of one exact worker image. What makes an image a worker is said again at
 * the end, so that a USER or an ENTRYPOINT in between does not undo it.
 */
export function planRepositoryImage(from: RepositoryIngredients): RepositoryImagePlan {
  const text = `${pinWorker(from.dockerfile, from.worker)}\n${tailOf(from.workerDockerfile)}`;
  const files = [contextFile(REPOSITORY_DOCKERFILE, text), ...from.companions];
  const content = hashValues({ version: from.version, files: hashFiles(files) });
  const own = {
    dockerfile: hashFiles([contextFile(REPOSITORY_DOCKERFILE, from.dockerfile)]),
    companions: hashFiles(from.companions),
  };
  return {
    tag: tagOf(REPOSITORY_IMAGE, content),
    content,
    version: from.version,
    checkout: checkoutKey(from.folder),
    parts: { own, worker: from.workerParts },
    files,
  };
}

export function repositoryBuild(
  plan: RepositoryImagePlan,
  buildArgs: ImageBuild['buildArgs'],
  options: { readonly platform: string | null; readonly noCache: boolean; readonly signal?: AbortSignal | undefined },
): ImageBuild {
  const { platform, noCache, signal } = options;
  return {
    tag: plan.tag,
    files: plan.files,
    dockerfile: REPOSITORY_DOCKERFILE,
    buildArgs,
    // All that we read again: a label that a Dockerfile sets, or the worker image brings, does not count.
    labels: {
      [CONTENT_LABEL]: plan.content,
      [VERSION_LABEL]: plan.version,
      [CHECKOUT_LABEL]: plan.checkout,
      ...partsLabel(plan.parts.worker),
      ...ownPartsLabel(plan.parts),
    },
    platform,
    noCache,
    ...(signal === undefined ? {} : { signal }),
  };
}

/** The planned image, whichever checkout it was built for; else the newest that was built for this one. */
export async function findRepositoryImage(engine: ImageEngine, plan: RepositoryImagePlan): Promise<ImageState> {
  const found = await engine.inspectImage(plan.tag);
  if (found?.labels[CONTENT_LABEL] === plan.content) {
    return { state: 'fresh', tag: plan.tag, id: found.id, bytes: found.bytes };
  }
  const older = newestOf(await engine.listImages({ [CHECKOUT_LABEL]: plan.checkout }));
  const parts = older && repositoryPartsOf(older.labels);
  if (older === undefined || parts === undefined) return { state: 'missing' };
  const tag = ownTag(older);
  return { state: 'stale', tag, id: older.id, reasons: repositoryDifferences(plan.parts, parts) };
}

/** What has lost its name is none that anybody could have used; what has another one is somebody else's. */
function newestOf(images: readonly ListedImage[]): ListedImage | undefined {
  return images
    .filter((image) => image.tags.includes(ownTag(image)))
    .toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))[0];
}

/** The name that our build gives an image of this content. */
function ownTag({ labels }: Pick<ListedImage, 'labels'>): string {
  return tagOf(REPOSITORY_IMAGE, labels[CONTENT_LABEL] ?? '');
}

/** Every "FROM mahabharatha-worker" becomes the exact image: "latest" may be another repository's, or another version's. */
function pinWorker(dockerfile: string, worker: string): string {
  const workers = new Set([WORKER_IMAGE, `${WORKER_IMAGE}:latest`]);
  let onWorker = false;
  const lines = dockerfile.split('\n').map((line) => {
    const [, image = '', alias] = FROM.exec(line) ?? [];
    if (image === '') return line;
    onWorker = workers.has(image);
    if (onWorker && alias !== undefined) workers.add(alias);
    return image === WORKER_IMAGE || image === `${WORKER_IMAGE}:latest` ? line.replace(image, worker) : line;
  });
  if (onWorker) return lines.join('\n');
  throw libErrors.USAGE({
    problem: `The last stage of .mahabharatha/${REPOSITORY_DOCKERFILE} is not built on ${WORKER_IMAGE}.`,
    hint: `Begin it with "FROM ${WORKER_IMAGE}", then add what your project needs ("USER root" before apt-get).`,
  });
}

function tailOf(workerDockerfile: string): string {
  const [tail] = WORKER_TAIL.exec(workerDockerfile) ?? [];
  if (tail === undefined) throw libErrors.INTERNAL({ what: "the worker's Dockerfile has no tail to repeat" });
  return tail;
}

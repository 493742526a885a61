import { libErrors } from '../lib/index.ts';
import { contextFile, hashFiles, hashValues, tagOf } from './content.ts';
import type { ContextFile } from './content.ts';
import type { ListedImage } from '../engines/index.ts';
import type { ImagePlan, ImageState } from './kind.ts';
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
import { WORKER } from './package-image.ts';

export const REPOSITORY_IMAGE = 'mahabharatha-repository';
/** In `.mahabharatha/`, with a folder for the files that it copies. */
export const REPOSITORY_DOCKERFILE = 'Dockerfile';
export const REPOSITORY_CONTEXT = 'docker';

/** The end of the worker's Dockerfile, which sets user, entrypoint and folders: from this comment to the next empty line. */
const WORKER_TAIL = /^# What makes it a worker.*\n(?:.+\n)*/m;
const FROM = /^\s*FROM\s+(?:--platform=\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?\s*$/i;

export interface RepositoryIngredients {
  readonly version: string;
  /** As in the repository. */
  readonly dockerfile: string;
  readonly companions: readonly ContextFile[];
  /** The content tag of the worker image that it is built on. */
  readonly worker: string;
  readonly workerParts: Parts;
  /** The `.mahabharatha` folder that describes it. */
  readonly folder: string;
  /** That of the worker image. */
  readonly workerDockerfile: string;
  /** As of the worker image. */
  readonly platform: string | null;
}

/**
 * Pure: the repository's own tools on top of one exact worker image. The end of the worker's Dockerfile is repeated, so
 * that a USER or an ENTRYPOINT of the repository has no effect.
 */
export function planRepositoryImage(from: RepositoryIngredients): ImagePlan {
  const text = `${pinWorker(from.dockerfile, from.worker)}\n${tailOf(from.workerDockerfile)}`;
  const files = [contextFile(REPOSITORY_DOCKERFILE, text), ...from.companions];
  const content = hashValues({ version: from.version, files: hashFiles(files) });
  const own = {
    dockerfile: hashFiles([contextFile(REPOSITORY_DOCKERFILE, from.dockerfile)]),
    companions: hashFiles(from.companions),
  };
  const parts: RepositoryParts = { own, worker: from.workerParts };
  const tag = tagOf(REPOSITORY_IMAGE, content);
  return {
    tag,
    content,
    step: `the repository's own image ${tag}, on ${from.worker}`,
    base: null,
    dockerfile: REPOSITORY_DOCKERFILE,
    files,
    buildArgs: {},
    // All labels that are read later, so that none that the Dockerfile sets, or the worker image has, counts.
    labels: {
      [VERSION_LABEL]: from.version,
      [CHECKOUT_LABEL]: checkoutKey(from.folder),
      ...partsLabel(parts.worker),
      ...ownPartsLabel(parts),
    },
    platform: from.platform,
    judge: (older) => judge(parts, older),
  };
}

function judge(wanted: RepositoryParts, older: ListedImage): ImageState {
  const parts = repositoryPartsOf(older.labels);
  if (parts === undefined) return { state: 'missing' };
  return { state: 'stale', tag: ownTag(older), id: older.id, reasons: repositoryDifferences(wanted, parts) };
}

/** Of those that have the name that our build gives them. */
export function newestOf(images: readonly ListedImage[]): ListedImage | undefined {
  return images
    .filter((image) => image.tags.includes(ownTag(image)))
    .toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))[0];
}

/** The name that our build gives an image of this content. */
function ownTag({ labels }: Pick<ListedImage, 'labels'>): string {
  return tagOf(REPOSITORY_IMAGE, labels[CONTENT_LABEL] ?? '');
}

/** Every "FROM mahabharatha-worker" becomes the exact image: "latest" may be of another repository or version. */
function pinWorker(dockerfile: string, worker: string): string {
  const workers = new Set([WORKER.name, WORKER.latest]);
  let onWorker = false;
  const lines = dockerfile.split('\n').map((line) => {
    const [, image = '', alias] = FROM.exec(line) ?? [];
    if (image === '') return line;
    onWorker = workers.has(image);
    if (onWorker && alias !== undefined) workers.add(alias);
    return [WORKER.name, WORKER.latest].includes(image) ? line.replace(image, worker) : line;
  });
  if (onWorker) return lines.join('\n');
  throw libErrors.USAGE({
    problem: `The last stage of .mahabharatha/${REPOSITORY_DOCKERFILE} is not built on ${WORKER.name}.`,
    hint: `Begin it with "FROM ${WORKER.name}", then add what your project needs ("USER root" before apt-get).`,
  });
}

function tailOf(workerDockerfile: string): string {
  const [tail] = WORKER_TAIL.exec(workerDockerfile) ?? [];
  if (tail === undefined) throw libErrors.INTERNAL({ what: "the worker's Dockerfile has no tail to repeat" });
  return tail;
}

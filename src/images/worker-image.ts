import { contextFile, hashFiles, hashValues, tagOf } from './content.ts';
import type { ContextFile } from './content.ts';
import type { ImageBuild, ImageEngine, Labels } from './image-engine.ts';
import { CONTENT_LABEL, VERSION_LABEL } from './labels.ts';
import { differences, partsLabel, partsOf } from './parts.ts';
import type { Parts } from './parts.ts';

export const WORKER_IMAGE = 'mahabharatha-worker';
/** The newest that was built, for people and for plain Dockerfiles; runs go by the content's tag. */
export const WORKER_LATEST = `${WORKER_IMAGE}:latest`;
export const DEFAULT_BASE = 'node:24-bookworm-slim';
export const CLAUDE_CODE_VERSION = '2.1.197';
export const WORKER_DOCKERFILE = 'docker/worker.Dockerfile';
/** The worker's program, and that of the egress proxy, which runs from the same image. */
export const PROGRAMS = ['dist/bundle/worker/worker.js', 'dist/bundle/egress/egress.js'];
const CERTIFICATES = 'docker/worker/extra-ca.pem';

/** Everything that a worker image is made of. */
export interface WorkerIngredients {
  /** Of this package. */
  readonly version: string;
  /** Dockerfile and scripts. */
  readonly recipe: readonly ContextFile[];
  readonly programs: readonly ContextFile[];
  /** PEM of the authorities that this machine trusts beyond the usual ones. */
  readonly certificates: Uint8Array | null;
  readonly claudeVersion: string;
  readonly base: string;
  /** Null when the base is not on this machine yet. */
  readonly baseId: string | null;
  /** "linux/arm64"; null is the engine's own. */
  readonly platform: string | null;
}

export interface WorkerImagePlan {
  readonly tag: string;
  readonly content: string;
  readonly parts: Parts;
  readonly files: readonly ContextFile[];
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly platform: string | null;
}

/** Pure: the same ingredients give the same plan and the same tag. */
export function planWorkerImage(from: WorkerIngredients): WorkerImagePlan {
  const trust = from.certificates === null ? [] : [contextFile(CERTIFICATES, from.certificates)];
  const parts: Parts = {
    version: from.version,
    program: hashFiles(from.programs),
    recipe: hashFiles(from.recipe),
    claude: from.claudeVersion,
    base: from.base,
    baseId: from.baseId ?? '',
    certificates: hashFiles(trust),
    platform: from.platform ?? '',
  };
  const content = hashValues(parts);
  return {
    tag: tagOf(WORKER_IMAGE, content),
    content,
    parts,
    files: [...from.recipe, ...from.programs, ...trust],
    buildArgs: { BASE_IMAGE: from.base, CLAUDE_CODE_VERSION: from.claudeVersion },
    platform: from.platform,
  };
}

/** What is not part of the image's content: how this machine reaches the world while it builds. */
export interface BuildRoute {
  /** Beside the plan's files: they are used in a stage that is thrown away. */
  readonly files: readonly ContextFile[];
  /** Proxies: names that Docker knows and keeps out of an image's history. */
  readonly buildArgs: Readonly<Record<string, string>>;
}

interface BuildOptions {
  readonly noCache: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Pure. */
export function workerBuild(plan: WorkerImagePlan, route: BuildRoute, { noCache, signal }: BuildOptions): ImageBuild {
  return {
    tag: plan.tag,
    files: [...plan.files, ...route.files],
    dockerfile: WORKER_DOCKERFILE,
    buildArgs: { ...route.buildArgs, ...plan.buildArgs },
    labels: labelsOf(plan),
    platform: plan.platform,
    noCache,
    ...(signal === undefined ? {} : { signal }),
  };
}

function labelsOf({ content, parts }: WorkerImagePlan): Labels {
  return {
    [CONTENT_LABEL]: content,
    [VERSION_LABEL]: parts.version,
    ...partsLabel(parts),
    'org.opencontainers.image.version': parts.version,
    'org.opencontainers.image.base.name': parts.base,
  };
}

/** Undefined when it is no content hash: anybody can write a label, and the tag that is made of it is printed. */
function contentOf(labels: Labels): string | undefined {
  const content = labels[CONTENT_LABEL] ?? '';
  return /^[0-9a-f]{64}$/.test(content) ? content : undefined;
}

export type ImageState =
  | { readonly state: 'missing' }
  | { readonly state: 'stale'; readonly tag: string; readonly id: string; readonly reasons: readonly string[] }
  | { readonly state: 'fresh'; readonly tag: string; readonly id: string; readonly bytes: number };

/** Is the planned image there, or an older one, and what is different about it? */
export async function findWorkerImage(engine: ImageEngine, plan: WorkerImagePlan): Promise<ImageState> {
  const exact = await engine.inspectImage(plan.tag);
  if (exact?.labels[CONTENT_LABEL] === plan.content) {
    return { state: 'fresh', tag: plan.tag, id: exact.id, bytes: exact.bytes };
  }
  const latest = await engine.inspectImage(WORKER_LATEST);
  if (latest === undefined) return { state: 'missing' };
  const { id, bytes } = latest;
  const content = contentOf(latest.labels);
  const parts = partsOf(latest.labels);
  if (content === undefined || parts === undefined) {
    return { state: 'stale', tag: WORKER_LATEST, id, reasons: ['it was not built by this "mahabharatha build"'] };
  }
  const tag = tagOf(WORKER_IMAGE, content);
  const reasons = differences(plan.parts, parts);
  return reasons.length > 0 ? { state: 'stale', tag, id, reasons } : { state: 'fresh', tag, id, bytes };
}

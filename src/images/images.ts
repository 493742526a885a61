import { readCertificates } from './host.ts';
import type { ImageEngine } from './image-engine.ts';
import { partsOf } from './parts.ts';
import { findRepositoryImage, planRepositoryImage } from './repository-image.ts';
import type { RepositoryImagePlan } from './repository-image.ts';
import { readPackageSources, readRepositorySources } from './sources.ts';
import type { PackageSources } from './sources.ts';
import { CLAUDE_CODE_VERSION, DEFAULT_BASE, WORKER_LATEST, findWorkerImage, planWorkerImage } from './worker-image.ts';
import type { ImageState, WorkerImagePlan } from './worker-image.ts';
import type { Environment } from '../lib/index.ts';

/** Whose images, made from what. */
export interface ImageRequest {
  /** Folder of this package: its Dockerfile and its worker program. */
  readonly packageRoot: string;
  readonly version: string;
  readonly env: Environment;
  /** The `.mahabharatha` folder of the user's repository; null when there is none. */
  readonly project: string | null;
  /** Null is the base of the last build, or the default. */
  readonly base: string | null;
  /** Null is the engine's own. */
  readonly platform: string | null;
}

/** The image that a run needs, and whether it is there. */
export interface RunImage {
  readonly kind: 'worker' | 'repository';
  readonly state: ImageState;
  /** The id of the worker image, without anything of the repository; null when there is none that is fresh. */
  readonly workerId: string | null;
}

/** What is asked before a run: the repository's image if it describes one, else the worker image. Builds nothing. */
export async function findRunImage(engine: ImageEngine, request: ImageRequest): Promise<RunImage> {
  const sources = await readPackageSources(request.packageRoot);
  const planned = await planWorker(engine, request, sources);
  const worker = await findWorkerImage(engine, planned);
  if (worker.state !== 'fresh') return { kind: 'worker', state: worker, workerId: null };
  const workerId = worker.id;
  const plan = await planRepository(request, sources, { tag: worker.tag, parts: planned.parts });
  if (plan === undefined) return { kind: 'worker', state: worker, workerId };
  return { kind: 'repository', state: await findRepositoryImage(engine, plan), workerId };
}

export async function planWorker(
  engine: ImageEngine,
  request: ImageRequest,
  sources: PackageSources,
): Promise<WorkerImagePlan> {
  const base = request.base ?? (await lastBase(engine)) ?? DEFAULT_BASE;
  const platform = await foreignPlatform(engine, request.platform);
  return planWorkerImage({
    version: request.version,
    recipe: sources.recipe,
    programs: sources.programs,
    certificates: await readCertificates(request.env),
    claudeVersion: CLAUDE_CODE_VERSION,
    base,
    baseId: (await engine.inspectImage(base))?.id ?? null,
    platform,
  });
}

/** Undefined when the repository describes no image of its own. */
export async function planRepository(
  request: ImageRequest,
  sources: PackageSources,
  worker: Pick<WorkerImagePlan, 'tag' | 'parts'>,
): Promise<RepositoryImagePlan | undefined> {
  const folder = request.project;
  const own = folder === null ? undefined : await readRepositorySources(folder);
  if (folder === null || own === undefined) return undefined;
  return planRepositoryImage({
    ...own,
    folder,
    version: request.version,
    worker: worker.tag,
    workerParts: worker.parts,
    workerDockerfile: sources.dockerfile,
  });
}

/** Who has built on another base once, say without a registry, need not say so each time. */
async function lastBase(engine: ImageEngine): Promise<string | undefined> {
  const latest = await engine.inspectImage(WORKER_LATEST);
  return latest === undefined ? undefined : partsOf(latest.labels)?.base;
}

/** The engine's own platform, however it is named, is none to ask for. */
export async function foreignPlatform(engine: ImageEngine, wanted: string | null): Promise<string | null> {
  if (wanted === null) return null;
  const { os, arch } = await engine.info();
  return wanted === `${os}/${commonName(arch)}` ? null : wanted;
}

function commonName(arch: string): string {
  const names: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };
  return names[arch] ?? arch;
}

import { engineErrors } from '../engines/errors.ts';
import { hasCode, libErrors, systemClock } from '../lib/index.ts';
import { contextFile } from './content.ts';
import { proxiesWithoutPasswords, readBuildRoute } from './host.ts';
import type { ImageBuild, ImageEngine } from './image-engine.ts';
import { foreignPlatform, planRepository, planWorker } from './images.ts';
import type { ImageRequest } from './images.ts';
import { findRepositoryImage, repositoryBuild } from './repository-image.ts';
import { readPackageSources } from './sources.ts';
import { WORKER_LATEST, findWorkerImage, workerBuild } from './worker-image.ts';
import type { ImageState, WorkerImagePlan } from './worker-image.ts';
import type { PackageSources } from './sources.ts';

export interface BuildRequest extends ImageRequest {
  readonly noCache: boolean;
  readonly signal?: AbortSignal;
}

export interface BuildProgress {
  step(text: string): void;
  /** A line that the engine or a command of the Dockerfile prints. */
  line(text: string): void;
  /** An image is there: the worker image, then the repository's own. */
  done(image: BuiltImage): void;
}

export interface BuiltImage {
  readonly kind: 'worker' | 'repository';
  readonly tag: string;
  readonly id: string;
  readonly bytes: number;
  readonly ms: number;
  /** It was there already: nothing was built. */
  readonly cached: boolean;
}

/** Builds what is missing or stale: the worker image, then the repository's own on top of it. The last one is for runs. */
export async function buildImages(engine: ImageEngine, request: BuildRequest, progress: BuildProgress): Promise<void> {
  const sources = await readPackageSources(request.packageRoot);
  const platform = await foreignPlatform(engine, request.platform);
  const { plan, worker } = await buildWorker(engine, { ...request, platform }, { sources, progress });
  progress.done(worker);
  const own = await planRepository(request, sources, plan);
  if (own === undefined) return;
  const options = { platform, noCache: request.noCache, signal: request.signal };
  const repository = await makeUnlessFresh({
    kind: 'repository',
    forced: request.noCache,
    find: () => findRepositoryImage(engine, own),
    make: async () => {
      progress.step(`the repository's own image ${own.tag}, on ${worker.tag}`);
      const { proxies, withheld } = proxiesWithoutPasswords(request.env);
      if (withheld.length > 0) progress.line(withheldLine(withheld));
      await engine.buildImage(repositoryBuild(own, proxies, options), progress.line);
    },
  });
  progress.done(repository);
}

const withheldLine = (names: readonly string[]): string =>
  `the name and password in ${names.join(' and ')} are not given to the repository's Dockerfile`;

interface Work {
  readonly sources: PackageSources;
  readonly progress: BuildProgress;
}

async function buildWorker(
  engine: ImageEngine,
  request: BuildRequest,
  work: Work,
): Promise<{ readonly plan: WorkerImagePlan; readonly worker: BuiltImage }> {
  const first = await planWorker(engine, request, work.sources);
  const fetched = await fetchBase(engine, first, { progress: work.progress, signal: request.signal });
  const plan = fetched ? await planWorker(engine, request, work.sources) : first;
  const worker = await makeUnlessFresh({
    kind: 'worker',
    forced: request.noCache,
    find: () => findPlanned(engine, plan),
    make: async () => {
      work.progress.step(`the worker image ${plan.tag}, on ${plan.parts.base}`);
      const route = await readBuildRoute(request.env);
      await engine.buildImage(workerBuild(plan, route, request), work.progress.line);
    },
  });
  // What was built last has the name, also when it was there already; others keep their content tags.
  await engine.tagImage(worker.id, WORKER_LATEST);
  return { plan, worker };
}

/** Only the exact image will do: one that merely looks the same has another tag. */
async function findPlanned(engine: ImageEngine, plan: WorkerImagePlan): Promise<ImageState> {
  const found = await findWorkerImage(engine, plan);
  return found.state === 'fresh' && found.tag !== plan.tag ? { state: 'missing' } : found;
}

/**
 * The base belongs to the content, so it must be known before the tag is: a Dockerfile of one line brings it here.
 * Returns false when it was here.
 */
async function fetchBase(
  engine: ImageEngine,
  plan: WorkerImagePlan,
  { progress, signal }: { readonly progress: BuildProgress; readonly signal: AbortSignal | undefined },
): Promise<boolean> {
  const { base } = plan.parts;
  if ((await engine.inspectImage(base)) !== undefined) return false;
  progress.step(`the base image ${base}`);
  const probe = `mahabharatha-base-probe:${plan.content.slice(0, 12)}`;
  try {
    await engine.buildImage(probeBuild(plan, probe, signal), progress.line);
  } catch (error) {
    if (!hasCode(error, engineErrors.IMAGE_BUILD_FAILED)) throw error;
    const output = [...error.facts.output, WITHOUT_REGISTRY];
    throw engineErrors.IMAGE_BUILD_FAILED({ ...error.facts, image: base, output }, { cause: error });
  }
  await engine.removeImage(probe);
  return true;
}

const WITHOUT_REGISTRY =
  'No registry in reach? docker/air-gapped/build-base.sh makes a base; then: mahabharatha build --base-image mahabharatha-base:bookworm';

/** The base by another name: to get there the engine fetches it. */
function probeBuild({ parts, platform }: WorkerImagePlan, tag: string, signal: AbortSignal | undefined): ImageBuild {
  const files = [contextFile('Dockerfile', `FROM ${parts.base}\n`)];
  const build = { tag, files, dockerfile: 'Dockerfile', buildArgs: {}, labels: {}, platform, noCache: false };
  return signal === undefined ? build : { ...build, signal };
}

interface Making {
  readonly kind: BuiltImage['kind'];
  readonly forced: boolean;
  find(): Promise<ImageState>;
  make(): Promise<void>;
}

async function makeUnlessFresh({ kind, forced, find, make }: Making): Promise<BuiltImage> {
  const started = systemClock.monotonic();
  const before = await find();
  const cached = before.state === 'fresh' && !forced;
  if (!cached) await make();
  const after = cached ? before : await find();
  if (after.state !== 'fresh') throw libErrors.INTERNAL({ what: `the ${kind} image is not there after its build` });
  const { tag, id, bytes } = after;
  return { kind, tag, id, bytes, ms: Math.round(systemClock.monotonic() - started), cached };
}

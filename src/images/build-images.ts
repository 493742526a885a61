import { engineErrors } from '../engines/errors.ts';
import { hasCode, libErrors, systemClock } from '../lib/index.ts';
import { contextFile } from './content.ts';
import { findExact, planImage, withForeignPlatform } from './find-images.ts';
import type { ImageBuild } from '../engines/index.ts';
import type { BuildRoute, ImageEngine, ImageKind, ImagePlan, ImageRequest } from './kind.ts';
import { RUN_KINDS } from './kinds.ts';
import { CONTENT_LABEL } from './labels.ts';

export interface BuildRequest extends ImageRequest {
  readonly noCache: boolean;
  readonly signal?: AbortSignal;
}

export interface BuildProgress {
  step(text: string): void;
  /** A line that the engine or a command of the Dockerfile prints. */
  line(text: string): void;
  /** An image is there; those that it is built on come before it. */
  done(image: BuiltImage): void;
}

export interface BuiltImage {
  readonly kind: string;
  /** Its kind, for people. */
  readonly title: string;
  readonly tag: string;
  readonly id: string;
  readonly bytes: number;
  readonly ms: number;
  /** It was there already. */
  readonly cached: boolean;
}

interface Work {
  readonly engine: ImageEngine;
  readonly request: BuildRequest;
  readonly progress: BuildProgress;
}

/** Builds the requested images that are missing or stale, each after the one that it is built on. */
export async function buildImages(
  engine: ImageEngine,
  asked: BuildRequest,
  progress: BuildProgress,
  kinds: readonly ImageKind[] = RUN_KINDS,
): Promise<void> {
  const work = { engine, request: await withForeignPlatform(engine, asked), progress };
  const built = new Map<string, ImagePlan>();
  for (const kind of kinds) {
    const plan = await planWithBase(work, kind, built);
    if (plan === undefined) continue;
    const image = await makeUnlessFresh(work, kind, plan);
    // The name moves to this image, even when it was there already; the others keep their content tags.
    if (kind.latest !== null) await engine.tagImage(image.id, kind.latest);
    built.set(kind.name, plan);
    progress.done(image);
  }
}

async function planWithBase(
  work: Work,
  kind: ImageKind,
  below: ReadonlyMap<string, ImagePlan>,
): Promise<ImagePlan | undefined> {
  const { engine, request } = work;
  const first = await planImage(engine, kind, { request, below });
  if (first === undefined || !(await fetchBase(work, first))) return first;
  return planImage(engine, kind, { request, below });
}

/**
 * The base is part of the content, so it must be here before the tag is known: a Dockerfile of one line fetches it.
 * Returns false when there is nothing to fetch.
 */
async function fetchBase({ engine, request, progress }: Work, plan: ImagePlan): Promise<boolean> {
  const { base } = plan;
  if (base === null || (await engine.inspectImage(base)) !== undefined) return false;
  progress.step(`the base image ${base}`);
  const tag = `mahabharatha-base-probe:${plan.content.slice(0, 12)}`;
  try {
    await engine.buildImage(probeBuild(tag, base, plan, request), progress.line);
  } catch (error) {
    if (!hasCode(error, engineErrors.IMAGE_BUILD_FAILED)) throw error;
    const output = [...error.facts.output, WITHOUT_REGISTRY];
    throw engineErrors.IMAGE_BUILD_FAILED({ ...error.facts, image: base, output }, { cause: error });
  }
  await engine.removeImage(tag);
  return true;
}

const WITHOUT_REGISTRY =
  'Is no registry reachable? docker/air-gapped/build-base.sh makes a base; then: mahabharatha build --base-image mahabharatha-base:bookworm';

/** A build that only gives the base another name: for it, the engine fetches the base. */
function probeBuild(tag: string, base: string, { platform }: ImagePlan, { signal }: BuildRequest): ImageBuild {
  const files = [contextFile('Dockerfile', `FROM ${base}\n`)];
  const build = { tag, files, dockerfile: 'Dockerfile', buildArgs: {}, labels: {}, platform, noCache: false };
  return signal === undefined ? build : { ...build, signal };
}

/** Accepts the exact image only: one that is as good has another tag. */
async function makeUnlessFresh(work: Work, kind: ImageKind, plan: ImagePlan): Promise<BuiltImage> {
  const { engine, request } = work;
  const started = systemClock.monotonic();
  const before = await findExact(engine, plan);
  const cached = before.state === 'fresh' && !request.noCache;
  if (!cached) await make(work, kind, plan);
  const after = cached ? before : await findExact(engine, plan);
  if (after.state !== 'fresh')
    throw libErrors.INTERNAL({ what: `the ${kind.name} image is not there after its build` });
  const { tag, id, bytes } = after;
  const ms = Math.round(systemClock.monotonic() - started);
  return { kind: kind.name, title: kind.title, tag, id, bytes, ms, cached };
}

async function make({ engine, request, progress }: Work, kind: ImageKind, plan: ImagePlan): Promise<void> {
  progress.step(plan.step);
  const route = await kind.route(request.env);
  for (const note of route.notes) progress.line(note);
  await engine.buildImage(buildOf(plan, route, request), progress.line);
}

/** Pure. */
export function buildOf(
  { tag, content, files, dockerfile, buildArgs, labels, platform }: ImagePlan,
  route: Pick<BuildRoute, 'files' | 'buildArgs'>,
  { noCache, signal }: Pick<BuildRequest, 'noCache' | 'signal'>,
): ImageBuild {
  return {
    tag,
    files: [...files, ...route.files],
    dockerfile,
    buildArgs: { ...route.buildArgs, ...buildArgs },
    labels: { ...labels, [CONTENT_LABEL]: content },
    platform,
    noCache,
    ...(signal === undefined ? {} : { signal }),
  };
}

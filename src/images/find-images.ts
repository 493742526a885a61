import { libErrors } from '../lib/index.ts';
import type { ImageEngine, ImageKind, ImagePlan, ImageRequest, ImageState } from './kind.ts';
import { BUN_KINDS, RUN_KINDS, SANDBOX_KINDS } from './kinds.ts';
import { CONTENT_LABEL } from './labels.ts';

interface ExaminedImage {
  readonly kind: ImageKind;
  readonly state: ImageState;
}

/** The image that a run needs, and whether it is there. */
export interface RunImage {
  readonly kind: string;
  readonly state: ImageState;
  /** The id of the worker image, which has nothing of the repository; null when it is not fresh. */
  readonly workerId: string | null;
}

/** The repository's image if it describes one, else the worker image. Builds nothing. */
export async function findRunImage(engine: ImageEngine, request: ImageRequest): Promise<RunImage> {
  const examined = await examineImages(engine, request, RUN_KINDS);
  const [worker, last] = [examined[0], examined.at(-1)];
  if (worker === undefined || last === undefined) throw libErrors.INTERNAL({ what: 'a run has no kind of image' });
  const workerId = worker.state.state === 'fresh' ? worker.state.id : null;
  return { kind: last.kind.name, state: last.state, workerId };
}

/** The image with Node and the sandbox agent, or the one with Bun. Builds nothing. */
export async function findSandboxImage(
  engine: ImageEngine,
  request: ImageRequest,
  use: 'sandbox' | 'bun' = 'sandbox',
): Promise<ImageState> {
  const [found] = await examineImages(engine, request, use === 'bun' ? BUN_KINDS : SANDBOX_KINDS);
  return found?.state ?? { state: 'missing' };
}

/** The state of each requested image whose base is fresh. */
export async function examineImages(
  engine: ImageEngine,
  asked: ImageRequest,
  kinds: readonly ImageKind[],
): Promise<ExaminedImage[]> {
  const request = await withForeignPlatform(engine, asked);
  const fresh = new Map<string, ImagePlan>();
  const examined: ExaminedImage[] = [];
  for (const kind of kinds) {
    const plan = await planImage(engine, kind, { request, below: fresh });
    if (plan === undefined) continue;
    const state = await findImage(engine, kind, plan);
    examined.push({ kind, state });
    if (state.state === 'fresh') fresh.set(kind.name, { ...plan, tag: state.tag });
  }
  return examined;
}

/** Undefined when none is requested, or when the image that it is built on is not there. */
export async function planImage(
  engine: ImageEngine,
  kind: ImageKind,
  { request, below }: { readonly request: ImageRequest; readonly below: ReadonlyMap<string, ImagePlan> },
): Promise<ImagePlan | undefined> {
  if (kind.on === null) return kind.plan(engine, request, null);
  const plan = below.get(kind.on);
  return plan === undefined ? undefined : kind.plan(engine, request, plan);
}

/** Whether the planned image is there, or an older one, and how that differs. */
export async function findImage(engine: ImageEngine, kind: ImageKind, plan: ImagePlan): Promise<ImageState> {
  const exact = await findExact(engine, plan);
  if (exact.state === 'fresh') return exact;
  const older = await kind.findOlder(engine, plan);
  return older === undefined ? exact : plan.judge(older);
}

/** By tag and content, since the tag may be on another image. */
export async function findExact(engine: ImageEngine, { tag, content }: ImagePlan): Promise<ImageState> {
  const found = await engine.inspectImage(tag);
  if (found?.labels[CONTENT_LABEL] !== content) return { state: 'missing' };
  return { state: 'fresh', tag, id: found.id, bytes: found.bytes };
}

/** A request for the engine's own platform counts as a request for none. */
export async function withForeignPlatform<Request extends ImageRequest>(
  engine: ImageEngine,
  request: Request,
): Promise<Request> {
  if (request.platform === null) return request;
  const { os, arch } = await engine.info();
  return request.platform === `${os}/${arch}` ? { ...request, platform: null } : request;
}

import type { BuildProgress, BuildRequest, BuiltImage, ImageEngine } from '../images/index.ts';

/** Receives the progress of a build. */
export interface BuildListener extends BuildProgress {
  /** Older images were kept; says how a person removes them. */
  olderStay(): void;
  /** The build was interrupted after these images. */
  calledOff(finished: readonly BuiltImage[]): void;
  close(): void;
}

/** For what images are built: runs, sandboxes, the code of AI clients. */
export type ImageUse = 'run' | 'sandbox' | 'bun';

/** Builds images that are missing or stale. */
export async function makeImages(
  engine: ImageEngine,
  request: BuildRequest,
  listener: BuildListener,
  use: ImageUse = 'run',
): Promise<void> {
  const { BUN_KINDS, buildImages, RUN_KINDS, SANDBOX_KINDS } = await import('../images/index.ts');
  const kinds = { run: RUN_KINDS, sandbox: SANDBOX_KINDS, bun: BUN_KINDS }[use];
  const built: BuiltImage[] = [];
  const done = (image: BuiltImage): void => {
    built.push(image);
    listener.done(image);
  };
  try {
    await buildImages(engine, request, { ...listener, done }, kinds);
    request.signal?.throwIfAborted();
    if (built.some(({ cached }) => !cached)) listener.olderStay();
  } catch (error) {
    if (request.signal?.aborted === true && error === request.signal.reason) listener.calledOff(built);
    throw error;
  } finally {
    listener.close();
  }
}

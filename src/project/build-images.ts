import type { BuildProgress, BuildRequest, BuiltImage, ImageEngine } from '../images/index.ts';

/** Receives the progress of a build. */
export interface BuildListener extends BuildProgress {
  /** Older images were kept; says how a person removes them. */
  olderStay(): void;
  /** The build was interrupted after these images. */
  calledOff(finished: readonly BuiltImage[]): void;
  close(): void;
}

/** Builds images that are missing or stale, for runs or for sandboxes. */
export async function makeImages(
  engine: ImageEngine,
  request: BuildRequest,
  listener: BuildListener,
  use: 'run' | 'sandbox' = 'run',
): Promise<void> {
  const { buildImages, RUN_KINDS, SANDBOX_KINDS } = await import('../images/index.ts');
  const built: BuiltImage[] = [];
  const done = (image: BuiltImage): void => {
    built.push(image);
    listener.done(image);
  };
  try {
    await buildImages(engine, request, { ...listener, done }, use === 'run' ? RUN_KINDS : SANDBOX_KINDS);
    request.signal?.throwIfAborted();
    if (built.some(({ cached }) => !cached)) listener.olderStay();
  } catch (error) {
    if (request.signal?.aborted === true && error === request.signal.reason) listener.calledOff(built);
    throw error;
  } finally {
    listener.close();
  }
}

import type { BuildProgress, BuildRequest, BuiltImage, ImageEngine } from '../images/index.ts';

/** Hears how a build of images goes on. */
export interface BuildListener extends BuildProgress {
  /** A build removes nothing: how a person does it. */
  olderStay(): void;
  /** With what was finished before. */
  calledOff(finished: readonly BuiltImage[]): void;
  close(): void;
}

/** Builds what is missing or stale, and says so. */
export async function makeImages(engine: ImageEngine, request: BuildRequest, listener: BuildListener): Promise<void> {
  const { buildImages } = await import('../images/index.ts');
  const built: BuiltImage[] = [];
  const done = (image: BuiltImage): void => {
    built.push(image);
    listener.done(image);
  };
  try {
    await buildImages(engine, request, { ...listener, done });
    request.signal?.throwIfAborted();
    if (built.some(({ cached }) => !cached)) listener.olderStay();
  } catch (error) {
    if (request.signal?.aborted === true && error === request.signal.reason) listener.calledOff(built);
    throw error;
  } finally {
    listener.close();
  }
}

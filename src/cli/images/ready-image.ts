import type { Engine } from '../../engines/index.ts';
import { findSandboxImage } from '../../images/index.ts';
import { libErrors } from '../../lib/index.ts';
import { makeImages, packageImageRequest } from '../../project/index.ts';
import type { BuildListener } from '../../project/index.ts';
import type { CliContext } from '../command.ts';

interface ReadyWish {
  readonly use: 'sandbox' | 'bun';
  /** What the image is built on; undefined: as the last time. */
  readonly base?: string | undefined;
  /** Told of the build, if there is one. */
  readonly view: () => BuildListener;
}

/** An image that sandboxes need. It is built when it is missing or stale. */
export async function readyImage(
  engine: Engine,
  { use, base, view }: ReadyWish,
  context: Pick<CliContext, 'version' | 'env' | 'interrupted'>,
): Promise<{ readonly tag: string; readonly id: string }> {
  const request = packageImageRequest(context, { base: base ?? null, platform: null });
  let state = await findSandboxImage(engine, request, use);
  if (state.state !== 'fresh') {
    await makeImages(engine, { ...request, noCache: false, signal: context.interrupted }, view(), use);
    state = await findSandboxImage(engine, request, use);
  }
  if (state.state !== 'fresh') throw libErrors.INTERNAL({ what: 'the image is not fresh right after its build' });
  return state;
}

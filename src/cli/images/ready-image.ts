import type { Engine } from '../../engines/index.ts';
import { findSandboxImage } from '../../images/index.ts';
import { libErrors } from '../../lib/index.ts';
import { imageRequest, makeImages } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { buildView } from '../render/build-view.ts';

interface ReadyWish {
  readonly use: 'sandbox' | 'bun';
  /** What the image is built on; undefined: as the last time. */
  readonly base?: string | undefined;
  readonly json: boolean;
}

/** An image that sandboxes need. It is built when it is missing or stale, with its progress on stderr for people. */
export async function readyImage(
  engine: Engine,
  { use, base, json }: ReadyWish,
  context: CliContext,
): Promise<{ readonly tag: string; readonly id: string }> {
  const request = { ...(await imageRequest(context, { base: base ?? null, platform: null })), project: null };
  let state = await findSandboxImage(engine, request, use);
  if (state.state !== 'fresh') {
    const view = buildView(json ? context : { ...context, out: context.err }, json);
    await makeImages(engine, { ...request, noCache: false, signal: context.interrupted }, view, use);
    state = await findSandboxImage(engine, request, use);
  }
  if (state.state !== 'fresh') throw libErrors.INTERNAL({ what: 'the image is not fresh right after its build' });
  return state;
}

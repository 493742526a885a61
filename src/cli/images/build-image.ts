import { findEngine } from '../../engines/index.ts';
import { libErrors } from '../../lib/index.ts';
import { makeImages, imageRequest, projectIfAny, readSettings } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { ImageUse } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { build } from '../commands/build.ts';
import { buildView } from '../render/build-view.ts';

/** `build`: builds images that are missing or stale, and names them. */
export async function buildImage(input: InputOf<typeof build>, context: CliContext): Promise<number> {
  const use = useOf(input.argument);
  if (use === 'run') await checkDockerfile(input.trustConfig, context);
  const base = input.baseImage ?? (use === 'bun' ? context.env['BUN_RUNNER_BASE'] || null : null);
  const request = await imageRequest(context, { base, platform: platformOf(input.platform) });
  const whole = { ...request, noCache: !input.cache, signal: context.interrupted };
  await makeImages(await findEngine(context.env), whole, buildView(context, input.json), use);
  return 0;
}

const USES: Readonly<Record<string, ImageUse>> = { worker: 'run', sandbox: 'sandbox', bun: 'bun' };

function useOf(argument = 'worker'): ImageUse {
  const use = Object.hasOwn(USES, argument) ? USES[argument] : undefined;
  if (use !== undefined) return use;
  throw libErrors.USAGE({ problem: `There is no image "${argument}".`, hint: 'Write worker, sandbox or bun.' });
}

function platformOf(platform: string | undefined): string | null {
  if (platform === undefined) return null;
  if (/^[a-z0-9]+\/[a-z0-9]+(\/[a-z0-9]+)?$/.test(platform)) return platform;
  throw libErrors.USAGE({
    problem: `"${platform}" is not a platform.`,
    hint: 'Write it as os/architecture: linux/arm64 or linux/amd64.',
  });
}

/** A repository's Dockerfile runs commands on the engine, so it needs approval. */
async function checkDockerfile(trusted: boolean, context: CliContext): Promise<void> {
  const project = await projectIfAny(context);
  // No worker is started, so .npmrc is not used.
  if (project !== null) await askTrust(project, await readSettings(project, context, 'subprocess'), trusted, context);
}

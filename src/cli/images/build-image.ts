import { findEngine } from '../../engines/index.ts';
import { libErrors } from '../../lib/index.ts';
import { makeImages, imageRequest, projectIfAny, readSettings } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import { textOf } from '../command.ts';
import type { CliContext, CommandInput } from '../command.ts';
import { buildView } from '../render/build-view.ts';

/** `build`: makes the images that are missing or stale, and says which ones they are. */
export async function buildImage(input: CommandInput, context: CliContext): Promise<number> {
  await checkRecipe(input['trustConfig'] === true, context);
  const base = textOf(input['baseImage']) ?? null;
  const request = await imageRequest(context, { base, platform: platformOf(textOf(input['platform'])) });
  const build = { ...request, noCache: input['cache'] === false, signal: context.interrupted };
  await makeImages(await findEngine(context.env), build, buildView(context, input['json'] === true));
  return 0;
}

function platformOf(platform: string | undefined): string | null {
  if (platform === undefined) return null;
  if (/^[a-z0-9]+\/[a-z0-9]+(\/[a-z0-9]+)?$/.test(platform)) return platform;
  throw libErrors.USAGE({
    problem: `"${platform}" is not a platform.`,
    hint: 'Write it as os/architecture: linux/arm64 or linux/amd64.',
  });
}

/** Commands of a repository's recipe run on the engine. */
async function checkRecipe(trusted: boolean, context: CliContext): Promise<void> {
  const project = await projectIfAny(context);
  if (project !== null) await askTrust(project, await readSettings(project, context), trusted, context);
}

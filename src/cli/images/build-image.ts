import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findEngine } from '../../engines/index.ts';
import { gitErrors } from '../../git/errors.ts';
import { buildImages } from '../../images/index.ts';
import type { BuildRequest, BuiltImage, ImageEngine, ImageRequest } from '../../images/index.ts';
import { hasCode, libErrors } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';
import { textOf } from '../command.ts';
import type { CliContext, CommandInput } from '../command.ts';
import { openProject } from '../../project/index.ts';
import type { Project } from '../../project/index.ts';
import { buildView, plainView } from '../render/build-view.ts';
import type { BuildView } from '../render/build-view.ts';
import { checkTrust, readSettings } from '../trust-config.ts';

type FindEngine = (env: Environment) => Promise<ImageEngine>;

/** `build`: makes the images that are missing or stale, and says which ones they are. */
export async function buildImage(
  input: CommandInput,
  context: CliContext,
  engineOf: FindEngine = findEngine,
): Promise<number> {
  await checkRecipe(input['trustConfig'] === true, context);
  const request: BuildRequest = {
    ...(await imageRequest(input, context)),
    noCache: input['cache'] === false,
    signal: context.interrupted,
  };
  await buildShown(await engineOf(context.env), request, buildView(context, input['json'] === true));
  return 0;
}

/** For a run that was told to build what it needs: said on stderr, since stdout is the run's. */
export async function buildForRun(engine: ImageEngine, request: ImageRequest, context: CliContext): Promise<void> {
  const aside = { ...context, out: context.err, terminal: false };
  await buildShown(engine, { ...request, noCache: false, signal: context.interrupted }, plainView(aside));
}

async function buildShown(engine: ImageEngine, request: BuildRequest, view: BuildView): Promise<void> {
  try {
    const built = await buildTold(engine, request, view);
    if (built.some(({ cached }) => !cached)) view.olderStay();
  } finally {
    view.close();
  }
}

async function buildTold(engine: ImageEngine, request: BuildRequest, view: BuildView): Promise<BuiltImage[]> {
  const built: BuiltImage[] = [];
  const done = (image: BuiltImage): void => {
    built.push(image);
    view.done(image);
  };
  try {
    await buildImages(engine, request, { ...view, done });
    request.signal?.throwIfAborted();
    return built;
  } catch (error) {
    if (request.signal?.aborted === true && error === request.signal.reason) view.calledOff(built);
    throw error;
  }
}

/** Also for a run, which asks whether its image is there. */
export async function imageRequest(input: CommandInput, context: CliContext): Promise<ImageRequest> {
  return {
    packageRoot: packageRoot(),
    version: context.version,
    env: context.env,
    project: (await projectIfAny(context))?.paths.top ?? null,
    base: textOf(input['baseImage']) ?? null,
    platform: platformOf(textOf(input['platform'])),
  };
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
  if (project !== null) await checkTrust(project, await readSettings(project, context), trusted, context);
}

/** The worker image needs no repository; only its own image does. */
async function projectIfAny(context: CliContext): Promise<Project | null> {
  try {
    return await openProject(context);
  } catch (error) {
    if (hasCode(error, gitErrors.NOT_A_REPOSITORY)) return null;
    throw error;
  }
}

/** Where docker/ is: some folders up, how many depends on whether this runs bundled. */
function packageRoot(): string {
  const start = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'docker', 'worker.Dockerfile'))) return folder;
    if (folder === path.dirname(folder)) {
      throw libErrors.FILE_UNREADABLE({
        file: 'docker/worker.Dockerfile',
        reason: `it is nowhere above ${start}`,
      });
    }
  }
}

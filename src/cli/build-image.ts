import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findEngine } from '../engines/index.ts';
import { buildImages } from '../images/index.ts';
import type { BuildProgress, BuildRequest, BuiltImage, ImageEngine, ImageRequest } from '../images/index.ts';
import { AppError, hasCode, printable } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { textOf } from './command.ts';
import type { CliContext, CommandInput } from './command.ts';
import { openProject } from './project.ts';
import { colorsFor } from './render/colors.ts';

type FindEngine = (env: Environment) => Promise<ImageEngine>;

/** `build`: makes the images that are missing or stale, and says which ones they are. */
export async function buildImage(
  input: CommandInput,
  context: CliContext,
  engineOf: FindEngine = findEngine,
): Promise<number> {
  const request: BuildRequest = {
    ...(await imageRequest(input, context)),
    noCache: input['cache'] === false,
    signal: context.interrupted,
  };
  await buildShown(await engineOf(context.env), request, viewOf(input, context));
  return 0;
}

/** For a run that was told to build what it needs: said on stderr, since stdout is the run's. */
export async function buildForRun(engine: ImageEngine, request: ImageRequest, context: CliContext): Promise<void> {
  const aside = { ...context, out: context.err, terminal: false };
  await buildShown(engine, { ...request, noCache: false, signal: context.interrupted }, plainView(aside));
}

async function buildShown(engine: ImageEngine, request: BuildRequest, view: BuildView): Promise<void> {
  try {
    const images = await buildImages(engine, request, view);
    for (const image of images) view.done(image);
  } finally {
    view.close();
  }
}

/** Also for a run, which asks whether its image is there. */
export async function imageRequest(input: CommandInput, context: CliContext): Promise<ImageRequest> {
  return {
    packageRoot: packageRoot(),
    version: context.version,
    env: context.env,
    project: await projectFolder(context),
    base: textOf(input['baseImage']) ?? null,
    platform: platformOf(textOf(input['platform'])),
  };
}

function platformOf(platform: string | undefined): string | null {
  if (platform === undefined) return null;
  if (/^[a-z0-9]+\/[a-z0-9]+(\/[a-z0-9]+)?$/.test(platform)) return platform;
  throw new AppError('USAGE', {
    problem: `"${platform}" is not a platform.`,
    hint: 'Write it as os/architecture: linux/arm64 or linux/amd64.',
  });
}

/** The worker image needs no repository; only its own image does. */
async function projectFolder(context: CliContext): Promise<string | null> {
  try {
    const project = await openProject(context);
    return project.paths.top;
  } catch (error) {
    if (hasCode(error, 'NOT_A_REPOSITORY')) return null;
    throw error;
  }
}

/** Where docker/ is: some folders up, how many depends on whether this runs bundled. */
function packageRoot(): string {
  const start = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'docker', 'worker.Dockerfile'))) return folder;
    if (folder === path.dirname(folder)) {
      throw new AppError('FILE_UNREADABLE', {
        file: 'docker/worker.Dockerfile',
        reason: `it is nowhere above ${start}`,
      });
    }
  }
}

interface BuildView extends BuildProgress {
  done(image: BuiltImage): void;
  close(): void;
}

function viewOf(input: CommandInput, context: CliContext): BuildView {
  if (input['json'] === true) return jsonView(context);
  return context.terminal ? tailView(context) : plainView(context);
}

function jsonView({ out }: CliContext): BuildView {
  const say = (value: object): void => out(`${JSON.stringify(value)}\n`);
  return {
    step: (text) => say({ type: 'build-step', text }),
    line: (text) => say({ type: 'build-line', text }),
    done: (image) => say({ type: 'image', ...image }),
    close: () => undefined,
  };
}

function plainView(context: CliContext): BuildView {
  return {
    step: (text) => context.out(`Building ${text}\n`),
    line: (text) => context.out(`  ${printable(text)}\n`),
    done: (image) => context.out(describe(image)),
    close: () => undefined,
  };
}

/** One line that always shows the last one printed; what failed is in the error, with its last lines. */
function tailView(context: CliContext): BuildView {
  const { dim } = colorsFor(context.color);
  const clear = '\r\u001B[2K';
  const width = Math.max(20, (process.stdout.columns ?? 80) - 3);
  return {
    step: (text) => context.out(`${clear}Building ${text}\n`),
    // A build prints what it wants; only we move the cursor.
    line: (text) => context.out(`${clear}  ${dim(printable(text).replaceAll(/\s/g, ' ').slice(0, width))}`),
    done: (image) => context.out(`${clear}${describe(image)}`),
    close: () => context.out(clear),
  };
}

function describe({ kind, tag, bytes, ms, cached }: BuiltImage): string {
  const size = `${Math.round(bytes / 1e6)} MB`;
  const what = kind === 'worker' ? 'worker image' : "repository's image";
  return `${what}  ${tag}  ${size}  ${cached ? 'up to date' : `built in ${(ms / 1000).toFixed(1)} s`}\n`;
}

import { variablesOf } from '../../lib/index.ts';
import type { Engine, ImageInfo, ListedImage } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { describedImagesIn, imagesIn, shortName } from './answers.ts';
import type { DescribedImage, FoundImage } from './answers.ts';
import { buildImage } from './build.ts';
import { refusal } from './cli.ts';
import type { Cli } from './cli.ts';
import { isMissingThing, isStopped, reasonIn } from './complaints.ts';
import { listContainers } from './inspect.ts';
import { hasLabels } from './labels.ts';

type ImageCalls = Pick<Engine, 'inspectImage' | 'listImages' | 'buildImage' | 'pullImage' | 'tagImage' | 'removeImage'>;

/** As images name them. */
export const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** The program knows images by their names alone: those that have lost theirs are gone. */
export function imageCalls(cli: Cli): ImageCalls {
  return {
    inspectImage: (name) => inspect(cli, name),
    listImages: async (labels) =>
      (await describe(cli, await listNames(cli))).filter((image) => hasLabels(image.labels, labels)).map(toListed),
    buildImage: async (plan, onLine) => {
      await buildImage(cli, plan, onLine);
      const made = await findImage(cli, plan.tag);
      if (made !== undefined) return made.id;
      const reason = 'the engine has named no image';
      throw engineErrors.IMAGE_BUILD_FAILED({ image: plan.tag, reason, output: [] });
    },
    pullImage: (name, onLine, signal) => pull(cli, name, { onLine, signal }),
    tagImage: async (id, tag) => {
      const image = await findImage(cli, id);
      if (image === undefined) throw engineErrors.IMAGE_MISSING({ image: tag });
      await cli.tell({ what: `name image ${id} ${tag}`, args: ['image', 'tag', image.name, tag] });
    },
    removeImage: (tag) => remove(cli, tag),
  };
}

async function listNames(cli: Cli): Promise<FoundImage[]> {
  const what = 'list images';
  return imagesIn(await cli.tell({ what, args: ['image', 'list', '--format', 'json'] }), what);
}

/** By its name, or by its id. */
export async function findImage(cli: Cli, nameOrId: string): Promise<FoundImage | undefined> {
  return (await listNames(cli)).find(isMeant(nameOrId));
}

function isMeant(nameOrId: string): (image: FoundImage) => boolean {
  const name = shortName(nameOrId);
  return (image) => image.name === name || image.id === nameOrId;
}

async function inspect(cli: Cli, nameOrId: string): Promise<ImageInfo | undefined> {
  const all = await listNames(cli);
  const meant = all.find(isMeant(nameOrId));
  return (
    meant &&
    (
      await describe(
        cli,
        all.filter(({ id }) => id === meant.id),
      )
    )[0]
  );
}

/** One for each id, with all its names. One that is removed meanwhile is left out. */
async function describe(cli: Cli, images: readonly FoundImage[]): Promise<ImageInfo[]> {
  const namesOf = (id: string): string[] => images.flatMap((image) => (image.id === id ? [image.name] : []));
  const wanted = images.flatMap(({ id, name }) => (namesOf(id)[0] === name ? [name] : []));
  if (wanted.length === 0) return [];
  const what = `inspect images ${wanted.join(' ')}`;
  const answer = await cli.ask({ what, args: ['image', 'inspect', ...wanted] });
  if (answer.code !== 0 && (isStopped(answer.stderr) || !isMissingThing(answer.stderr)))
    throw refusal({ what }, answer, cli.place);
  if (answer.stdout.trim() === '') return [];
  return describedImagesIn(answer.stdout, what).flatMap((image) => {
    const info = toInfo(image, namesOf(image.id));
    return info === undefined ? [] : [info];
  });
}

function toInfo({ id, variants }: DescribedImage, tags: readonly string[]): ImageInfo | undefined {
  const forLinux = variants.filter(({ platform }) => platform.os === 'linux');
  const variant = forLinux.find(({ platform }) => platform.architecture === ARCHITECTURE) ?? forLinux[0];
  if (variant === undefined) return undefined;
  const { created = '', config = {} } = variant.config;
  return {
    id,
    tags,
    labels: config.Labels ?? {},
    user: config.User ?? '',
    arch: variant.platform.architecture,
    env: variablesOf(config.Env ?? []),
    // The program does not obey what an image says of volumes.
    volumes: [],
    bytes: variant.size,
    createdAt: created,
  };
}

const toListed = ({ id, labels, bytes, createdAt, tags }: ImageInfo): ListedImage => ({
  id,
  labels,
  bytes,
  createdAt,
  tags,
});

interface PullOptions {
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function pull(cli: Cli, name: string, { onLine, signal }: PullOptions): Promise<void> {
  onLine(`Fetching ${name}`);
  const args = ['image', 'pull', '--progress', 'none', '--platform', `linux/${ARCHITECTURE}`, name];
  const answer = await cli.ask({ what: `fetch image ${name}`, args, takes: 'long', signal });
  if (answer.code === 0) return;
  if (isStopped(answer.stderr)) throw refusal({ what: `fetch image ${name}` }, answer, cli.place);
  throw engineErrors.IMAGE_PULL_FAILED({ image: name, reason: reasonIn(answer.stderr, answer.code) });
}

/** The program removes an image that a container uses. */
async function remove(cli: Cli, tag: string): Promise<void> {
  const what = `remove image ${tag}`;
  const all = await listNames(cli);
  const meant = all.find(isMeant(tag));
  if (meant === undefined) return;
  const isLast = all.every(({ id, name }) => id !== meant.id || name === meant.name);
  if (isLast && (await isUsed(cli, meant)))
    throw engineErrors.ENGINE_FAILED({ call: what, reason: 'a container uses it' });
  const answer = await cli.ask({ what, args: ['image', 'delete', meant.name], takes: 'slow' });
  if (answer.code !== 0 && (await findImage(cli, meant.name)) !== undefined) throw refusal({ what }, answer, cli.place);
}

async function isUsed(cli: Cli, { id, name }: FoundImage): Promise<boolean> {
  return (await listContainers(cli)).some(
    ({ image }) => image !== undefined && (image.digest === id || shortName(image.reference) === name),
  );
}

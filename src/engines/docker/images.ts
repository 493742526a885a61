import path from 'node:path';
import { Readable } from 'node:stream';
import { variablesOf } from '../../lib/index.ts';
import type { AppError } from '../../lib/index.ts';
import type { Engine, ImageBuild, ImageInfo, Labels, ListedImage } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import type { ImageInspect } from './api.ts';
import { readBuild } from './build-output.ts';
import type { BuildMessage } from './build-output.ts';
import type { Call, Connection } from './connection.ts';
import { whole } from './errors.ts';
import { jsonLines } from './json-lines.ts';
import { imagePath, withLabels } from './requests.ts';
import { packTar } from './tar.ts';

type ImageCalls = Pick<Engine, 'inspectImage' | 'listImages' | 'buildImage' | 'pullImage' | 'tagImage' | 'removeImage'>;

export function imageCalls(connection: Connection): ImageCalls {
  return {
    inspectImage: async (name) => {
      const call = { what: `inspect image ${name}`, method: 'GET', path: imagePath(name, '/json') } as const;
      const found = await connection.find<ImageInspect>(call);
      return found === undefined ? undefined : toInfo(found);
    },
    listImages: (labels) => list(connection, labels),
    buildImage: (plan, onLine) => build(connection, plan, onLine),
    pullImage: (name, onLine, signal) => pull(connection, name, { onLine, signal }),
    tagImage: (id, tag) => {
      const [repo, name] = [tag.slice(0, tag.lastIndexOf(':')), tag.slice(tag.lastIndexOf(':') + 1)];
      const call = { what: `name image ${id} ${tag}`, method: 'POST', path: imagePath(id, '/tag') } as const;
      const errors = { 404: () => engineErrors.IMAGE_MISSING({ image: tag }) };
      return connection.tell({ ...call, query: { repo, tag: name }, errors });
    },
    removeImage: (tag) =>
      connection.tell({ what: `remove image ${tag}`, method: 'DELETE', path: imagePath(tag), fine: [404], slow: true }),
  };
}

interface ImageSummary extends Pick<ImageInspect, 'Id' | 'Size' | 'RepoTags'> {
  readonly Labels?: Labels | null;
  /** In seconds since 1970. */
  readonly Created: number;
}

/** Inspects none of them: to inspect an image that is being removed is an error, and not a missing image. */
async function list(connection: Connection, labels: Labels): Promise<ListedImage[]> {
  const call = { what: 'list images', method: 'GET', path: '/images/json', query: withLabels(labels) } as const;
  const found = await connection.ask<ImageSummary[]>(call);
  return found.map(toListed).filter(({ tags }) => tags.length > 0);
}

function toListed({ Id, Labels, Size, Created, RepoTags }: ImageSummary): ListedImage {
  const createdAt = new Date(Created * 1000).toISOString();
  return { id: Id, labels: Labels ?? {}, bytes: Size, createdAt, tags: namesOf(RepoTags) };
}

function toInfo({ Id, Config, Architecture, Size, Created, RepoTags }: ImageInspect): ImageInfo {
  return {
    id: Id,
    labels: Config.Labels ?? {},
    user: Config.User ?? '',
    arch: Architecture,
    env: variablesOf(Config.Env ?? []),
    volumes: Object.keys(Config.Volumes ?? {}).map((folder) => path.posix.resolve('/', folder)),
    bytes: Size,
    createdAt: Created,
    tags: namesOf(RepoTags),
  };
}

/** Podman adds a registry to names without one; Docker's list has a name for images without one. */
function namesOf(tags: ImageInspect['RepoTags']): string[] {
  const named = (tags ?? []).filter((tag) => tag !== '<none>:<none>');
  return named.map((tag) => tag.replace(/^(localhost|docker\.io\/library)\//, ''));
}

async function build(connection: Connection, plan: ImageBuild, onLine: (line: string) => void): Promise<string> {
  const { tag, files, signal } = plan;
  const failed = (reason: string, output: readonly string[] = []): AppError =>
    engineErrors.IMAGE_BUILD_FAILED({ image: tag, reason, output });
  const upload = Readable.from(packTar(files), { objectMode: false });
  const stream = await connection.open(buildCall(plan, failed), { upload, signal });
  const asked = { what: `build image ${tag}`, place: connection.place };
  const reading = whole(asked, readBuild(jsonLines<BuildMessage>(stream), onLine));
  const { failure, imageId, last } = await reading.catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  if (failure !== undefined) throw failed(failure, last);
  if (imageId === undefined) throw failed('the engine has named no image', last);
  return imageId;
}

function buildCall(plan: ImageBuild, failed: (reason: string) => AppError): Call {
  return {
    what: `build image ${plan.tag}`,
    method: 'POST',
    path: '/build',
    query: {
      t: plan.tag,
      dockerfile: plan.dockerfile,
      buildargs: JSON.stringify(plan.buildArgs),
      labels: JSON.stringify(plan.labels),
      nocache: plan.noCache,
      rm: true,
      forcerm: true,
      ...(plan.platform === null ? {} : { platform: plan.platform }),
    },
    // A Dockerfile that cannot be read is refused before anything is built.
    errors: { 400: failed, 404: failed, 500: failed },
  };
}

interface PullOptions {
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function pull(connection: Connection, name: string, { onLine, signal }: PullOptions): Promise<void> {
  const failed = (reason: string): AppError => engineErrors.IMAGE_PULL_FAILED({ image: name, reason });
  const call: Call = {
    what: `fetch image ${name}`,
    method: 'POST',
    path: '/images/create',
    // Without a tag, all of the repository would be fetched.
    query: { fromImage: hasTag(name) ? name : `${name}:latest` },
    errors: { 400: failed, 403: failed, 404: failed, 500: failed },
    slow: true,
  };
  const stream = await connection.open(call, { signal });
  const asked = { what: call.what, place: connection.place };
  const { failure } = await whole(asked, readBuild(jsonLines<BuildMessage>(stream), onLine)).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  if (failure !== undefined) throw failed(failure);
}

/** A colon before a slash is that of a port. */
const hasTag = (name: string): boolean => /[:@]/.test(name.slice(name.lastIndexOf('/') + 1));

import { Readable } from 'node:stream';
import { AppError } from '../../lib/index.ts';
import type { Engine, ImageBuild } from '../engine.ts';
import type { ImageInspect } from './api.ts';
import { createBuildOutput } from './build-output.ts';
import type { BuildMessage } from './build-output.ts';
import { whole } from './connection.ts';
import type { Call, Connection } from './connection.ts';
import { jsonLines } from './json-lines.ts';
import { imagePath } from './paths.ts';
import { packTar } from './tar.ts';

export function imageCalls(connection: Connection): Pick<Engine, 'inspectImage' | 'buildImage' | 'removeImage'> {
  return {
    inspectImage: async (tag) => {
      const call = { what: `inspect image ${tag}`, method: 'GET', path: imagePath(tag, '/json') } as const;
      const found = await connection.find<ImageInspect>(call);
      if (found === undefined) return undefined;
      const { Id: id, Config, Architecture: arch, Size: bytes, Created: createdAt } = found;
      return { id, labels: Config.Labels ?? {}, user: Config.User ?? '', arch, bytes, createdAt };
    },
    buildImage: (plan, onLine) => build(connection, plan, onLine),
    removeImage: (tag) =>
      connection.tell({ what: `remove image ${tag}`, method: 'DELETE', path: imagePath(tag), fine: [404], slow: true }),
  };
}

async function build(connection: Connection, plan: ImageBuild, onLine: (line: string) => void): Promise<string> {
  const { tag, files, signal } = plan;
  const output = createBuildOutput(onLine);
  const failed = (reason: string): AppError =>
    new AppError('IMAGE_BUILD_FAILED', { image: tag, reason, output: output.last() });
  const upload = Readable.from(packTar(files), { objectMode: false });
  const stream = await connection.open(buildCall(plan, failed), { upload, signal });
  try {
    await whole({ what: `build image ${tag}`, place: connection.place }, output.read(jsonLines<BuildMessage>(stream)));
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  const { failure, imageId } = output.result();
  if (failure !== undefined) throw failed(failure);
  if (imageId === undefined) throw failed('the engine has named no image');
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

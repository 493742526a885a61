import { chmod, chown, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Engine } from '../engines/index.ts';
import { isThere, makePrivateFolder, randomId, removeTree } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { RuntimeImage } from './runtime-volume.ts';
import { workInContainer } from './work-on-volumes.ts';

/** For root, whose programs in containers are never root. */
const NOBODY = 65_534;
const OUT = '/out';

/**
 * A folder of this machine with Node and the sandbox agent, for an engine that does not give one volume to many. It is made
 * beside its place and renamed, so that servers that start together make one each, and one of them stays.
 */
export async function runtimeFolder(engine: Engine, image: RuntimeImage, parent: string): Promise<string> {
  const place = path.join(parent, image.id.replace('sha256:', '').slice(0, 16));
  if (await isThere(place)) return place;
  await makePrivateFolder(parent);
  const draft = `${place}-${randomId()}`;
  await mkdir(draft);
  try {
    await fill(engine, image, draft);
    await rename(draft, place).catch(async (error: unknown) => {
      if (!(await isThere(place))) throw error;
    });
    return place;
  } finally {
    await removeTree(draft);
  }
}

/** Programs in sandboxes may run Node and not read it, and so may the user of this container: an image beside it lets it. */
async function fill(engine: Engine, { tag }: RuntimeImage, draft: string): Promise<void> {
  const own = process.getuid?.() ?? 0;
  const uid = own === 0 ? NOBODY : own;
  if (own === 0) await chown(draft, uid, uid);
  const name = `mahabharatha-runtime-${randomId()}`;
  const dockerfile = `FROM ${tag}\nRUN chmod 0555 ${SANDBOX.runtime}/node\n`;
  const readable = `${name}:latest`;
  await engine.buildImage(
    {
      tag: readable,
      files: [{ path: 'Dockerfile', content: Buffer.from(dockerfile), mode: 0o644 }],
      dockerfile: 'Dockerfile',
      buildArgs: {},
      labels: {},
      platform: null,
      noCache: false,
    },
    () => undefined,
  );
  try {
    await workInContainer(engine, {
      image: readable,
      name,
      labels: {},
      mounts: [{ kind: 'bind', source: draft, target: OUT, readOnly: false }],
      command: ['cp', '-r', `${SANDBOX.runtime}/.`, OUT],
      uid,
      what: 'its runtime could not be copied',
    });
    await chmod(path.join(draft, 'node'), 0o111);
    await chmod(draft, 0o755);
  } finally {
    await engine.removeImage(readable);
  }
}

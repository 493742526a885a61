import { chmod, chown, mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Engine } from '../engines/index.ts';
import { isThere, makePrivateFolder, modifiedAt, randomId, removeTree } from '../lib/index.ts';
import { LABEL } from '../containers/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { RuntimeImage } from './runtime-volume.ts';
import { workInContainer } from './work-on-volumes.ts';

/** For root, whose programs in containers are never root. */
const NOBODY = 65_534;
const OUT = '/out';
const LABELS = { [LABEL.role]: 'runtime-copy' };
/** No server takes so long to copy: what is older is left over. */
const LEFT_MS = 10 * 60_000;

/**
 * A folder of this machine with Node and the sandbox agent, for an engine that does not give one volume to many. It is made
 * beside its place and renamed, so that servers that start together make one each, and one of them stays.
 */
export async function runtimeFolder(engine: Engine, image: RuntimeImage, parent: string): Promise<string> {
  const place = path.join(parent, image.id.replace('sha256:', '').slice(0, 16));
  if (await isThere(place)) return place;
  await makePrivateFolder(parent);
  await removeLeft(engine, parent);
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

const isLeft = (madeAt: number): boolean => Date.now() - madeAt > LEFT_MS;

/** Removes what servers have left that were killed while they copied. */
async function removeLeft(engine: Engine, parent: string): Promise<void> {
  for (const name of (await readdir(parent)).filter((each) => each.includes('-'))) {
    const draft = path.join(parent, name);
    if (isLeft(await modifiedAt(draft))) await removeTree(draft);
  }
  const images = (await engine.listImages(LABELS)).filter(({ createdAt }) => isLeft(Date.parse(createdAt)));
  await Promise.allSettled(images.flatMap(({ tags }) => tags.map((tag) => engine.removeImage(tag))));
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
      labels: LABELS,
      platform: null,
      // Its age is that of this build.
      noCache: true,
    },
    () => undefined,
  );
  try {
    await workInContainer(engine, {
      image: readable,
      name,
      labels: LABELS,
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

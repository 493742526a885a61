import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { packageFolder } from '../../test/support/package-folder.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { engineErrors } from '../engines/errors.ts';
import { buildImages } from './build-images.ts';
import type { BuildRequest, BuiltImage } from './build-images.ts';
import type { ImageBuild, ImageInfo, Labels } from '../engines/index.ts';
import { findRunImage } from './find-images.ts';
import type { ImageEngine } from './kind.ts';
import { SANDBOX_IMAGE, WORKER } from './package-image.ts';
import { readPackageSources } from './sources.ts';

const BASE = 'base:1';
const ROOT = path.resolve(import.meta.dirname, '../..');

/** Keeps images by tag, as an engine does: a Dockerfile that is nothing but FROM gives the same image another name. */
function fakeEngine(): {
  engine: ImageEngine;
  images: Map<string, ImageInfo>;
  builds: ImageBuild[];
  registry: Set<string>;
} {
  const images = new Map<string, ImageInfo>();
  const builds: ImageBuild[] = [];
  const registry = new Set<string>();
  const newImage = (labels: ImageInfo['labels']): ImageInfo => {
    const id = `sha256:${builds.length}-${images.size}`;
    const at = new Date(builds.length * 1000).toISOString();
    return { id, labels, user: '', arch: 'amd64', env: {}, volumes: [], bytes: 5, createdAt: at, tags: [] };
  };
  const engine = {
    info: async () => ({ os: 'linux', arch: 'amd64' }),
    inspectImage: async (tag: string) => images.get(tag),
    removeImage: async (tag: string) => void images.delete(tag),
    listImages: async (labels: Labels) =>
      [...images]
        .map(([tag, image]) => ({ ...image, tags: [tag] }))
        .filter((own) => Object.entries(labels).every(([name, value]) => own.labels[name] === value)),
    tagImage: async (id: string, tag: string) => {
      const image = [...images.values()].find((one) => one.id === id);
      if (image !== undefined) images.set(tag, image);
    },
    buildImage: async (build: ImageBuild, onLine: (line: string) => void) => {
      builds.push(build);
      onLine(`building ${build.tag}`);
      const text = Buffer.from(build.files.find((file) => file.path === build.dockerfile)?.content ?? []).toString();
      const alias = /^FROM (\S+)\n$/.exec(text)?.[1];
      if (alias !== undefined && !images.has(alias)) {
        if (!registry.has(alias)) {
          throw engineErrors.IMAGE_BUILD_FAILED({ image: build.tag, reason: 'no such host', output: [] });
        }
        images.set(alias, newImage({}));
      }
      const below = images.get(/^FROM (\S+)$/m.exec(text)?.[1] ?? '')?.labels;
      const image = (alias === undefined ? undefined : images.get(alias)) ?? newImage({ ...below, ...build.labels });
      images.set(build.tag, image);
      return image.id;
    },
  };
  return { engine: engine as unknown as ImageEngine, images, builds, registry };
}

let world = fakeEngine();

async function build(wanted: BuildRequest): Promise<BuiltImage[]> {
  const built: BuiltImage[] = [];
  const silent = { step: () => undefined, line: () => undefined };
  await buildImages(world.engine, wanted, { ...silent, done: (image) => void built.push(image) });
  return built;
}

const request = (change: Partial<BuildRequest> = {}): BuildRequest => ({
  packageRoot: packageFolder(),
  version: '1.2.3',
  // No npm there: these tests need no registry.
  env: { PATH: '/nowhere' },
  project: null,
  agents: ['claude'],
  base: BASE,
  platform: null,
  noCache: false,
  ...change,
});

beforeEach(() => {
  world = fakeEngine();
  world.registry.add(BASE);
});

describe('building images', () => {
  it('fetches the base first, builds, gives the image two names, and finds it cached the next time', async () => {
    const wanted = request();
    const [first] = await build(wanted);
    expect(first).toMatchObject({ kind: 'worker', cached: false });
    expect([...world.images.keys()]).toEqual([BASE, first?.tag, 'mahabharatha-worker:latest']);
    expect(world.images.get('mahabharatha-worker:latest')?.id).toBe(first?.id);

    const before = world.builds.length;
    expect(await build(wanted)).toMatchObject([{ tag: first?.tag, cached: true }]);
    expect(world.builds.length).toBe(before);
    expect(await findRunImage(world.engine, wanted)).toMatchObject({ kind: 'worker', state: { state: 'fresh' } });
  });

  it('builds again without the cache', async () => {
    const wanted = request({ noCache: true });
    await build(wanted);
    expect(await build(wanted)).toMatchObject([{ cached: false }]);
    expect(world.builds.filter(({ noCache }) => noCache)).toHaveLength(2);
  });

  it('stays on the base of the last build when none is named, before a run too', async () => {
    const wanted = request();
    await build(wanted);
    const unnamed = { ...wanted, base: null };
    expect(await build(unnamed)).toMatchObject([{ cached: true }]);
    expect(await findRunImage(world.engine, unnamed)).toMatchObject({ state: { state: 'fresh' } });
  });

  it('finds an earlier image that is still there, and gives it the name again', async () => {
    world.registry.add('base:2');
    const one = request();
    const [first] = await build(one);
    await build({ ...one, base: 'base:2' });
    expect(await build(one)).toMatchObject([{ tag: first?.tag, cached: true }]);
    expect(world.images.get('mahabharatha-worker:latest')?.id).toBe(first?.id);
  });

  it("treats a request for the engine's own platform as a request for none", async () => {
    const wanted = request();
    const [plain] = await build(wanted);
    const [named] = await build({ ...wanted, platform: 'linux/amd64' });
    const [other] = await build({ ...wanted, platform: 'linux/arm64' });
    expect(named?.tag).toBe(plain?.tag);
    expect(other?.tag).not.toBe(plain?.tag);
    expect(await findRunImage(world.engine, wanted)).toMatchObject({ state: { state: 'fresh', tag: plain?.tag } });
  });

  it('says what to do without a registry', async () => {
    const building = build(request({ base: 'nowhere:1' }));
    await expect(building).rejects.toThrow(/image nowhere:1 failed: no such host[^]*air-gapped[^]*--base-image/);
  });

  it("builds the repository's own image on the worker image, and finds it until either changes", async () => {
    const project = tempFolder();
    writeFileSync(path.join(project, 'Dockerfile'), 'FROM mahabharatha-worker\nRUN tools\n');
    const wanted = request({ project });
    expect(await findRunImage(world.engine, wanted)).toEqual({
      kind: 'worker',
      state: { state: 'missing' },
      workerId: null,
    });
    const [worker, own] = await build(wanted);
    const dockerfile = Buffer.from(world.builds.at(-1)?.files[0]?.content ?? []).toString();
    expect(dockerfile).toMatch(new RegExp(`^FROM ${worker?.tag}\nRUN tools\n`));
    expect(await findRunImage(world.engine, wanted)).toMatchObject({
      kind: 'repository',
      state: { tag: own?.tag },
      workerId: worker?.id,
    });

    const changed = { ...wanted, packageRoot: packageFolder('work(again)') };
    expect(await findRunImage(world.engine, changed)).toMatchObject({ kind: 'worker', state: { state: 'stale' } });
    const [, next] = await build(changed);
    expect(next?.tag).not.toBe(own?.tag);
    writeFileSync(path.join(project, 'Dockerfile'), 'FROM mahabharatha-worker\nRUN more\n');
    mkdirSync(path.join(project, 'docker'));
    writeFileSync(path.join(project, 'docker', 'tool'), 'x');
    expect(await findRunImage(world.engine, changed)).toMatchObject({
      kind: 'repository',
      state: {
        state: 'stale',
        tag: next?.tag,
        id: next?.id,
        reasons: ['.mahabharatha/Dockerfile has changed', 'a file in .mahabharatha/docker has changed'],
      },
    });
  });

  it('does not compare with the image of another repository', async () => {
    const [project, other] = [tempFolder(), tempFolder()];
    for (const [folder, step] of [
      [project, 'RUN a'],
      [other, 'RUN b'],
    ] as const)
      writeFileSync(path.join(folder, 'Dockerfile'), `FROM mahabharatha-worker\n${step}\n`);
    const wanted = request({ project });
    await build({ ...wanted, project: other });
    expect(await findRunImage(world.engine, wanted)).toMatchObject({ kind: 'repository', state: { state: 'missing' } });
  });

  it('reports its progress line by line', async () => {
    const told: string[] = [];
    const progress = {
      step: (text: string) => told.push(`# ${text}`),
      line: (text: string) => told.push(text),
      done: ({ tag }: BuiltImage) => told.push(`${tag} is there`),
    };
    await buildImages(world.engine, request(), progress);
    const [worker] = await build(request());
    expect(told).toEqual([
      `# the base image ${BASE}`,
      expect.stringMatching(/^building mahabharatha-base-probe:/),
      `# the worker image ${worker?.tag}, on ${BASE}`,
      `building ${worker?.tag}`,
      `${worker?.tag} is there`,
    ]);
  });

  it('stops while the base is fetched when the signal fires', async () => {
    const controller = new AbortController();
    const wanted = request({ signal: controller.signal });
    await build(wanted);
    expect(world.builds.map(({ signal }) => signal)).toEqual([controller.signal, controller.signal]);
  });
});

it.each([WORKER, SANDBOX_IMAGE])('all sources of the $title are there', async (image) => {
  const sources = await readPackageSources(ROOT, image).catch((error: unknown) => error);
  // Without a build there are no programs; everything else is in the repository.
  if (sources instanceof Error) expect(sources.message).toMatch(/dist\/bundle\/[a-z-]+\/[a-z-]+\.js/);
  else expect(sources).toMatchObject({ recipe: { length: image.scripts.length + 1 } });
});

import { describe, expect, it } from 'vitest';
import { IMAGE_PARTS } from '../../test/support/image-parts.ts';
import { contextFile } from './content.ts';
import { buildOf } from './build-images.ts';
import { findImage } from './find-images.ts';
import type { ListedImage } from '../engines/index.ts';
import type { ImageEngine, ImagePlan, ImageState } from './kind.ts';
import { planRepositoryImage } from './repository-image.ts';
import type { RepositoryIngredients } from './repository-image.ts';
import { repositoryKind } from './repository-kind.ts';

const WORKER_DOCKERFILE =
  'FROM base\nRUN x\n# What makes it a worker: and so on\nUSER 1000:1000\nENTRYPOINT ["work"]\n\nCOPY work /work\n';
const INGREDIENTS: RepositoryIngredients = {
  version: '1.2.3',
  dockerfile: 'FROM mahabharatha-worker\nRUN install-things\n',
  companions: [],
  worker: 'mahabharatha-worker:abc',
  workerParts: IMAGE_PARTS,
  folder: '/home/me/project/.mahabharatha',
  workerDockerfile: WORKER_DOCKERFILE,
  platform: null,
};
const plan = (change: Partial<RepositoryIngredients> = {}): ReturnType<typeof planRepositoryImage> =>
  planRepositoryImage({ ...INGREDIENTS, ...change });
const textOf = (dockerfile: string): string =>
  Buffer.from(plan({ dockerfile }).files[0]?.content ?? []).toString('utf8');

describe("a repository's own image", () => {
  it('is built on the exact worker image, and is a worker again at its end', () => {
    expect(textOf(INGREDIENTS.dockerfile)).toBe(
      'FROM mahabharatha-worker:abc\nRUN install-things\n\n# What makes it a worker: and so on\nUSER 1000:1000\nENTRYPOINT ["work"]\n',
    );
  });

  it.each([
    ['FROM mahabharatha-worker:latest', 'FROM mahabharatha-worker:abc'],
    [
      'from --platform=linux/arm64 mahabharatha-worker as me',
      'from --platform=linux/arm64 mahabharatha-worker:abc as me',
    ],
    ['FROM golang:1 AS go\nFROM mahabharatha-worker', 'FROM golang:1 AS go\nFROM mahabharatha-worker:abc'],
    ['FROM mahabharatha-worker AS a\nFROM a AS b\nFROM b', 'FROM mahabharatha-worker:abc AS a\nFROM a AS b\nFROM b'],
  ])('may begin with %j', (dockerfile, pinned) => {
    expect(textOf(dockerfile).startsWith(`${pinned}\n`)).toBe(true);
  });

  it.each(['FROM debian', 'FROM mahabharatha-worker AS w\nFROM debian', 'FROM mahabharatha-worker-x', '', '# FROM'])(
    'is refused when its last stage is something else: %j',
    (dockerfile) => {
      expect(() => plan({ dockerfile })).toThrow(/last stage of .mahabharatha\/Dockerfile is not built on/);
    },
  );

  it.each<[string, Partial<RepositoryIngredients>]>([
    ['its Dockerfile', { dockerfile: 'FROM mahabharatha-worker\n' }],
    ['a file beside it', { companions: [contextFile('docker/tool', 'x')] }],
    ['the worker image', { worker: 'mahabharatha-worker:def' }],
    ['our version', { version: '2.0.0' }],
  ])('has another tag when %s changes', (_, change) => {
    expect(plan().tag).toMatch(/^mahabharatha-repository:[0-9a-f]{12}$/);
    expect(plan(change).tag).not.toBe(plan().tag);
  });
});

const built = (change: Partial<RepositoryIngredients>, createdAt = '2026-01-01T00:00:00Z'): ListedImage => {
  const { tag, labels } = buildOf(plan(change), { files: [], buildArgs: {} }, { noCache: false });
  return { id: `id of ${tag}`, labels, bytes: 1, createdAt, tags: [tag] };
};
const engineWith = (...images: readonly ListedImage[]): ImageEngine =>
  ({
    inspectImage: async (tag: string) => images.find(({ tags }) => tags.includes(tag)),
    listImages: async (labels: Readonly<Record<string, string>>) =>
      images.filter((own) => Object.entries(labels).every(([name, value]) => own.labels[name] === value)),
  }) as ImageEngine;

const findRepository = (engine: ImageEngine, wanted: ImagePlan): Promise<ImageState> =>
  findImage(engine, repositoryKind, wanted);

describe("finding a repository's own image", () => {
  const OLD = { dockerfile: 'FROM mahabharatha-worker\n' };

  it('is missing when there is none, or only one of another repository', async () => {
    expect(await findRepository(engineWith(), plan())).toEqual({ state: 'missing' });
    const others = engineWith(built({ ...OLD, folder: '/home/me/other/.mahabharatha' }));
    expect(await findRepository(others, plan())).toEqual({ state: 'missing' });
  });

  it('accepts the image of this content, whichever checkout it was built for', async () => {
    const engine = engineWith(built({ folder: '/home/me/clone/.mahabharatha' }), built(OLD));
    expect(await findRepository(engine, plan())).toMatchObject({ state: 'fresh', tag: plan().tag });
  });

  it.each<[string, Partial<RepositoryIngredients>, string[]]>([
    ['its Dockerfile', OLD, ['.mahabharatha/Dockerfile has changed']],
    ['a file', { companions: [contextFile('docker/a', 'x')] }, ['a file in .mahabharatha/docker has changed']],
    [
      'the worker image',
      { worker: 'mahabharatha-worker:old', workerParts: { ...IMAGE_PARTS, version: '1.0.0', program: 'old' } },
      ['it was built by Mahabharatha 1.0.0, this is 1.2.3', 'its program has changed'],
    ],
    [
      'a worker image of equal parts',
      { worker: 'mahabharatha-worker:old' },
      ['it was not built by this "mahabharatha build"'],
    ],
  ])('reports an older one as stale, with the difference: %s', async (_, old, reasons) => {
    const { id, tags } = built(old);
    const found = await findRepository(engineWith(built(old)), plan());
    expect(found).toEqual({ state: 'stale', tag: tags[0], id, reasons });
  });

  it('compares with the newest of several', async () => {
    const files = { companions: [contextFile('docker/a', 'x')] };
    const engine = engineWith(
      built(OLD, '2026-01-01T00:00:00Z'),
      built(files, '2026-01-02T00:00:00+01:00'),
      built({ ...OLD, ...files }, '2025-12-31T00:00:00Z'),
    );
    expect(await findRepository(engine, plan())).toMatchObject({ state: 'stale', tag: plan(files).tag });
  });

  it('has its parts in a label that no Dockerfile can change', () => {
    expect(JSON.parse(built({}).labels['mahabharatha.parts'] ?? '')).toEqual(IMAGE_PARTS);
  });

  it('does not contain the path of the repository', () => {
    expect(JSON.stringify(built({}))).not.toContain('/home/me');
  });
});

import { describe, expect, it } from 'vitest';
import { IMAGE_PARTS } from '../../test/support/image-parts.ts';
import { contextFile, hashValues } from './content.ts';
import type { ImageInfo } from './image-engine.ts';
import type { Parts } from './parts.ts';
import { planRepositoryImage, repositoryBuild } from './repository-image.ts';
import { checkoutKey } from './repository-parts.ts';
import { mayGo, supersededRepositoryImages, supersededWorkers } from './superseded.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-05-05T12:00:00Z');
const ago = (ms: number): string => new Date(NOW - ms).toISOString();
const OLD = ago(DAY + 1);
const FOLDER = '/home/me/project/.mahabharatha';

const PARTS: Parts = { ...IMAGE_PARTS, program: 'new' };

const common = { user: '', arch: 'amd64', env: {}, bytes: 500, createdAt: OLD, namedAt: OLD };

function worker(change: Partial<Parts> = {}, more: Partial<ImageInfo> = {}): ImageInfo {
  const parts = { ...PARTS, ...change };
  const content = hashValues(parts);
  const labels = {
    'mahabharatha.content': content,
    'mahabharatha.version': parts.version,
    'mahabharatha.parts': JSON.stringify(parts),
  };
  return { ...common, id: `id-${content}`, labels, tags: [`mahabharatha-worker:${content.slice(0, 12)}`], ...more };
}

function repository(step: string, folder = FOLDER, more: Partial<ImageInfo> = {}, parts = PARTS): ImageInfo {
  const plan = planRepositoryImage({
    version: parts.version,
    dockerfile: `FROM mahabharatha-worker\n${step}\n`,
    companions: [contextFile('docker/x', 'x')],
    worker: 'mahabharatha-worker:abc',
    workerParts: parts,
    workerDockerfile: '# What makes it a worker\n',
    folder,
  });
  const { labels } = repositoryBuild(plan, {}, { platform: null, noCache: false });
  return { ...common, id: `id-${plan.content}`, labels, tags: [plan.tag], ...more };
}

const oldWorker = (more: Partial<ImageInfo> = {}): ImageInfo => worker({ program: 'old' }, more);
const workersGone = (...listed: ImageInfo[]): string[] =>
  supersededWorkers({ current: worker(), listed: [worker(), ...listed] }).map(({ name }) => name);
const repositoriesGone = (...listed: ImageInfo[]): string[] =>
  supersededRepositoryImages(
    { current: repository('RUN new'), listed: [repository('RUN new'), ...listed] },
    checkoutKey(FOLDER),
  ).map(({ name }) => name);

describe('a worker image', () => {
  it('is superseded by one of other content, and goes by the name that we gave it', () => {
    expect(workersGone(oldWorker(), worker({ base: 'node:22' }))).toEqual([
      oldWorker().tags[0],
      worker({ base: 'node:22' }).tags[0],
    ]);
    const kept = oldWorker({ tags: ['mine:1', ...oldWorker().tags] });
    expect(workersGone(kept)).toEqual(oldWorker().tags);
  });

  it.each<[string, ImageInfo]>([
    ['is of another version', worker({ version: '1.2.2' })],
    ['is for another platform', worker({ platform: 'linux/arm64' })],
    ['has only a name of somebody else', oldWorker({ tags: ['mine:1', 'mahabharatha-worker:mine'] })],
    ['has no name: somebody may have built on it', oldWorker({ tags: [] })],
    ['has no labels of ours', oldWorker({ labels: {} })],
    ['is the one below a repository', { ...repository('RUN old'), tags: worker().tags }],
  ])('stays when it %s', (_, image) => {
    expect(workersGone(image)).toEqual([]);
  });
});

describe("a repository's image", () => {
  it('is superseded by one of other content for the same checkout, of whatever version', () => {
    const elder = repository('RUN new', FOLDER, {}, { ...PARTS, version: '1.0.0' });
    expect(repositoriesGone(repository('RUN old'), elder)).toEqual([...repository('RUN old').tags, ...elder.tags]);
  });

  it.each<[string, ImageInfo]>([
    ["is another checkout's", repository('RUN old', '/home/me/other/.mahabharatha')],
    ['is for another platform', repository('RUN old', FOLDER, {}, { ...PARTS, platform: 'linux/arm64' })],
    ['has only a name of somebody else', repository('RUN old', FOLDER, { tags: ['mine:1'] })],
    ['has no name: somebody may have built on it', repository('RUN old', FOLDER, { tags: [] })],
  ])('stays when it %s', (_, image) => {
    expect(repositoriesGone(image)).toEqual([]);
  });
});

describe('right before it goes, an image', () => {
  const image = oldWorker();
  const byName = { kind: 'worker', name: image.tags[0] ?? '', id: image.id } as const;
  const byId = { ...byName, name: image.id };

  it('may go by its name a day after somebody has wanted it, and at once by its id when it has no name', () => {
    expect(mayGo(byName, image, NOW)).toBe(true);
    expect(mayGo(byId, { ...image, tags: [], namedAt: ago(0) }, NOW)).toBe(true);
  });

  it.each<[string, typeof byName, ImageInfo | undefined]>([
    ['was named a short while ago', byName, { ...image, namedAt: ago(DAY - 1) }],
    ['was named nobody knows when', byName, { ...image, namedAt: '' }],
    ['is another one by now', byName, { ...image, id: 'another' }],
    ['is gone', byName, undefined],
    ['was to go by its id and has a name', byId, image],
  ])('stays when it %s', (_, one, still) => {
    expect(mayGo(one, still, NOW)).toBe(false);
  });
});

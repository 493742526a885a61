import { describe, expect, it } from 'vitest';
import { contextFile } from './content.ts';
import { buildOf } from './build-images.ts';
import { findImage } from './find-images.ts';
import type { ImageInfo } from '../engines/index.ts';
import type { ImageEngine, ImagePlan, ImageState } from './kind.ts';
import { planPackageImage, SANDBOX_IMAGE, WORKER } from './package-image.ts';
import type { Ingredients } from './package-image.ts';
import { workerKind } from './package-kinds.ts';

const PROGRAM = contextFile('dist/bundle/worker/worker.js', 'work()');
const INGREDIENTS: Ingredients = {
  version: '1.2.3',
  recipe: [contextFile('docker/worker.Dockerfile', 'FROM x'), contextFile('docker/worker/healthcheck.sh', 'exit 0')],
  programs: [PROGRAM, contextFile('dist/bundle/egress/egress.js', 'pass()')],
  certificates: null,
  fetched: [{ program: 'claude', version: '2.1.197' }],
  base: 'node:24',
  baseId: 'sha256:aaa',
  platform: null,
};
const plan = (change: Partial<Ingredients> = {}): ImagePlan => planPackageImage(WORKER, { ...INGREDIENTS, ...change });
const pathsWith = (certificates: Uint8Array | null): string[] => plan({ certificates }).files.map(({ path }) => path);
const NOTHING = { files: [], buildArgs: {} };

/** An engine that has these images and no more. */
function engineWith(images: Record<string, Partial<ImageInfo>>): ImageEngine {
  const whole = { id: 'sha256:1', labels: {}, user: '1000:1000', arch: 'amd64', bytes: 1000, createdAt: '' };
  return {
    inspectImage: async (tag: string) => (images[tag] === undefined ? undefined : { ...whole, ...images[tag] }),
  } as ImageEngine;
}

const findWorker = (engine: ImageEngine, wanted: ImagePlan): Promise<ImageState> =>
  findImage(engine, workerKind, wanted);

const builtFrom = (change: Partial<Ingredients>): Partial<ImageInfo> => ({
  id: 'sha256:2',
  labels: buildOf(plan(change), NOTHING, { noCache: false }).labels,
});

describe('the tag of the worker image', () => {
  it('is the same for the same ingredients, in whatever order the files are listed', () => {
    expect(plan().tag).toMatch(/^mahabharatha-worker:[0-9a-f]{12}$/);
    expect(plan({ recipe: INGREDIENTS.recipe.toReversed() }).tag).toBe(plan().tag);
  });

  it.each<[string, Partial<Ingredients>]>([
    ['the worker program', { programs: [contextFile(PROGRAM.path, 'work(1)'), ...INGREDIENTS.programs.slice(1)] }],
    ['the program of the proxy', { programs: [PROGRAM, contextFile('dist/bundle/egress/egress.js', 'pass(1)')] }],
    ['a script', { recipe: [contextFile('docker/worker.Dockerfile', 'FROM x')] }],
    ['the rights of a script', { recipe: INGREDIENTS.recipe.map((file) => ({ ...file, mode: 0o755 })) }],
    ['our version', { version: '1.2.4' }],
    ['the version of Claude Code', { fetched: [{ program: 'claude', version: '2.1.198' }] }],
    ['another agent', { fetched: [...INGREDIENTS.fetched, { program: 'codex', version: '1.0.0' }] }],
    ['the name of the base', { base: 'node:22' }],
    ['the base behind the name', { baseId: 'sha256:bbb' }],
    ['the certificates', { certificates: Buffer.from('PEM') }],
    ['the platform', { platform: 'linux/arm64' }],
  ])('changes with %s', (_, change) => {
    expect(plan(change).tag).not.toBe(plan().tag);
  });

  it('does not change with registry and proxies, which deliver the same', () => {
    const route = {
      files: [contextFile('docker/worker/npmrc', 'registry=x')],
      buildArgs: { HTTP_PROXY: 'http://p:1' },
    };
    const build = buildOf(plan(), route, { noCache: false });
    expect(build.tag).toBe(plan().tag);
    expect(build.files.map(({ path }) => path)).toContain('docker/worker/npmrc');
    expect(JSON.stringify(build.labels)).not.toContain('http://p:1');
  });
});

describe('the build of the worker image', () => {
  it('sends the certificates only when there are any', () => {
    expect(pathsWith(null)).not.toContain('docker/worker/extra-ca.pem');
    expect(pathsWith(Buffer.from('PEM'))).toContain('docker/worker/extra-ca.pem');
  });

  it('lets no proxy replace an argument of the plan', () => {
    const route = { files: [], buildArgs: { BASE_IMAGE: 'other' } };
    expect(buildOf(plan(), route, { noCache: true })).toMatchObject({
      noCache: true,
      dockerfile: 'docker/worker.Dockerfile',
      buildArgs: { BASE_IMAGE: 'node:24', CLAUDE_CODE_VERSION: '2.1.197' },
      labels: {
        'mahabharatha.version': '1.2.3',
        'mahabharatha.content': plan().content,
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.base.name': 'node:24',
      },
    });
  });
});

describe('finding the worker image', () => {
  it('reports a missing one', async () => {
    expect(await findWorker(engineWith({}), plan())).toEqual({ state: 'missing' });
  });

  it('accepts the image with the planned content, although a newer one has the name', async () => {
    const engine = engineWith({ [plan().tag]: builtFrom({}), [WORKER.latest]: builtFrom({ version: '9.9.9' }) });
    expect(await findWorker(engine, plan())).toMatchObject({ state: 'fresh', tag: plan().tag, id: 'sha256:2' });
  });

  it('does not accept another image with the right tag', async () => {
    const engine = engineWith({ [plan().tag]: { labels: {} } });
    expect(await findWorker(engine, plan())).toEqual({ state: 'missing' });
  });

  it('names each difference of a stale image', async () => {
    const old = {
      version: '1.0.0',
      fetched: [{ program: 'claude', version: '2.0.0' }] as const,
      baseId: 'sha256:old',
      certificates: Buffer.from('PEM'),
    };
    const engine = engineWith({ [WORKER.latest]: builtFrom(old) });
    expect(await findWorker(engine, plan())).toMatchObject({
      state: 'stale',
      tag: plan(old).tag,
      reasons: [
        'it was built by Mahabharatha 1.0.0, this is 1.2.3',
        'it has Claude Code 2.0.0, wanted is 2.1.197',
        'its base sha256:old has been replaced by sha256:aaa',
        "this machine's extra certificates (NODE_EXTRA_CA_CERTS) have changed",
      ],
    });
  });

  it.each<[string, Partial<Ingredients>, string]>([
    ['program', { programs: [contextFile('p', 'old')] }, 'its program has changed'],
    ['list of agents', { fetched: [] }, 'it does not have Claude Code 2.1.197'],
    [
      'other list of agents',
      { fetched: [...INGREDIENTS.fetched, { program: 'codex', version: '1.0.0' }] },
      'it has Codex 1.0.0, which is not wanted',
    ],
    ['recipe', { recipe: [] }, 'its Dockerfile or a script of it has changed'],
    ['base', { base: 'node:22', baseId: 'sha256:old' }, 'its base is node:22, wanted is node:24'],
    ['platform', { platform: 'linux/arm64' }, "it is for linux/arm64, wanted is the engine's own platform"],
  ])('names a changed %s', async (_, old, reason) => {
    const found = await findWorker(engineWith({ [WORKER.latest]: builtFrom(old) }), plan());
    expect(found).toMatchObject({ state: 'stale', reasons: [reason] });
  });

  it('accepts an image whose base was removed since', async () => {
    const engine = engineWith({ [WORKER.latest]: builtFrom({}) });
    const found = await findWorker(engine, plan({ baseId: null }));
    expect(found).toMatchObject({ state: 'fresh', tag: plan().tag });
  });

  it('reports another image with our name as stale', async () => {
    const forged = { ...builtFrom({ version: '9.9.9' }).labels, 'mahabharatha.content': '\u001B[2J\nfine' };
    for (const labels of [{}, forged]) {
      const found = await findWorker(engineWith({ [WORKER.latest]: { labels } }), plan());
      const reasons = ['it was not built by this "mahabharatha build"'];
      expect(found).toMatchObject({ state: 'stale', tag: WORKER.latest, reasons });
    }
  });
});

it('an image without Claude Code gets no argument for it', () => {
  const sandbox = planPackageImage(SANDBOX_IMAGE, { ...INGREDIENTS, fetched: [] });
  expect(sandbox).toMatchObject({
    tag: expect.stringMatching(/^mahabharatha-sandbox:/),
    buildArgs: { BASE_IMAGE: 'node:24' },
  });
  expect(sandbox.buildArgs).not.toHaveProperty('CLAUDE_CODE_VERSION');
});

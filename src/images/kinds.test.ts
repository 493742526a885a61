import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../test/support/fake-engine.ts';
import { packageFolder } from '../../test/support/package-folder.ts';
import { buildImages } from './build-images.ts';
import type { BuildRequest, BuiltImage } from './build-images.ts';
import { contextFile, hashValues, tagOf } from './content.ts';
import { examineImages } from './find-images.ts';
import type { ImageEngine, ImageKind, ImageState } from './kind.ts';
import { RUN_KINDS } from './kinds.ts';
import { workerKind } from './package-kinds.ts';

const BASE = 'base:1';
const INTERPRETER = 'test.interpreter';

/** A kind that the room does not know, built on the worker image. */
function languageKind(interpreter: string): ImageKind {
  return {
    name: 'language',
    title: 'language image',
    on: 'worker',
    latest: 'test-language:latest',
    plan: async (_, { platform }, below) => {
      const text = `FROM ${below?.tag}\nRUN echo ${interpreter}\n`;
      const content = hashValues({ text });
      const tag = tagOf('test-language', content);
      return {
        tag,
        content,
        step: `the language image ${tag}`,
        base: null,
        dockerfile: 'Dockerfile',
        files: [contextFile('Dockerfile', text)],
        buildArgs: {},
        labels: { [INTERPRETER]: interpreter },
        platform,
        judge: ({ id, labels }) => {
          const reasons = [`it has ${labels[INTERPRETER]}, wanted is ${interpreter}`];
          return { state: 'stale', tag: 'test-language:latest', id, reasons };
        },
      };
    },
    findOlder: (engine) => engine.inspectImage('test-language:latest'),
    route: async () => ({ files: [], buildArgs: {}, notes: [] }),
  };
}

let engine: ImageEngine;
let request: BuildRequest;

beforeEach(() => {
  engine = createFakeEngine(createFakeEngineMachine(() => undefined, [BASE]));
  const common = {
    version: '1.2.3',
    env: { PATH: '/nowhere' },
    project: null,
    agents: ['claude' as const],
    base: BASE,
    platform: null,
  };
  request = { ...common, packageRoot: packageFolder(), noCache: false };
});

/** Built with all kinds of the room and this one; what was printed, and the images. */
async function build(kind: ImageKind): Promise<{ lines: string[]; images: BuiltImage[] }> {
  const [lines, images]: [string[], BuiltImage[]] = [[], []];
  const take = (text: string): void => void lines.push(text);
  const progress = { step: take, line: take, done: (image: BuiltImage) => void images.push(image) };
  await buildImages(engine, request, progress, [...RUN_KINDS, kind]);
  return { lines, images };
}

async function look(kind: ImageKind): Promise<[string, ImageState][]> {
  const examined = await examineImages(engine, request, [...RUN_KINDS, kind]);
  return examined.map((one) => [one.kind.name, one.state]);
}

describe('a kind of image that is only registered', () => {
  it('is examined when the image that it is built on is there, and not before', async () => {
    expect(await look(languageKind('lua 5'))).toEqual([['worker', { state: 'missing' }]]);
    await buildImages(engine, request, { step: () => undefined, line: () => undefined, done: () => undefined });
    expect(await look(languageKind('lua 5'))).toMatchObject([
      ['worker', { state: 'fresh' }],
      ['language', { state: 'missing' }],
    ]);
  });

  it('is built on the exact image of its base kind, gets its names, and is cached the next time', async () => {
    const kind = languageKind('lua 5');
    const { lines, images } = await build(kind);
    const [worker, language] = images;
    expect(images).toMatchObject([{ kind: 'worker' }, { kind: 'language', title: 'language image', cached: false }]);
    expect(lines).toContain(`the language image ${language?.tag}`);
    expect(lines).toContain(`Step : FROM ${worker?.tag}`);
    expect((await engine.inspectImage('test-language:latest'))?.id).toBe(language?.id);
    expect((await build(kind)).images).toMatchObject([{ cached: true }, { tag: language?.tag, cached: true }]);
    expect(await look(kind)).toMatchObject([
      ['worker', { state: 'fresh' }],
      ['language', { state: 'fresh' }],
    ]);
  });

  it('is stale, with its own reasons, when its content has changed', async () => {
    await build(languageKind('lua 5'));
    const reasons = ['it has lua 5, wanted is lua 6'];
    expect((await look(languageKind('lua 6')))[1]).toMatchObject(['language', { state: 'stale', reasons }]);
  });

  it('has the label by which all our images are found, whatever its own labels are', async () => {
    const { images } = await build(languageKind('lua 5'));
    const { labels } = (await engine.inspectImage(images[1]?.tag ?? '')) ?? {};
    expect(labels).toMatchObject({ [INTERPRETER]: 'lua 5', 'mahabharatha.content': expect.stringMatching(/^\w{64}$/) });
  });

  it('is not built when its base kind is not requested', async () => {
    const { images } = await build({ ...languageKind('lua 5'), on: 'repository' });
    expect(images.map(({ kind }) => kind)).toEqual(['worker']);
  });
});

it('each kind stands after the one that it is built on', () => {
  expect(RUN_KINDS[0]).toBe(workerKind);
  for (const [at, { on }] of RUN_KINDS.entries())
    expect([null, ...RUN_KINDS.slice(0, at).map(({ name }) => name)]).toContain(on);
});

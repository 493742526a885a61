import { afterAll, describe, expect, it } from 'vitest';
import type { Engine, ImageInfo, Labels } from '../../src/engines/index.ts';
import { removeSuperseded } from '../../src/images/index.ts';
import type { BuiltImage, Removed } from '../../src/images/index.ts';
import { hashValues, tagOf } from '../../src/images/content.ts';
import { checkoutKey } from '../../src/images/repository-parts.ts';
import { randomId } from '../../src/lib/index.ts';
import { MARK, newBuild, newSpec, removeAll } from '../support/containers.ts';
import { dockerForTests, forgetBuilds } from '../support/docker.ts';

const { engine, image: base, why } = await dockerForTests();
const IN_TWO_DAYS = 48 * 60 * 60 * 1000;
const VERSION = `0.0.0-test-${randomId()}`;
const PROJECT = `/nowhere/${randomId()}`;
const tags: string[] = [];

/** Two days on, images of others would look forgotten too: these tests see only their own. */
const ours: Engine = {
  ...engine,
  listImages: async (labels) => engine.listImages({ ...labels, ...MARK }),
};

function partsOf(program: string): Record<string, string> {
  const others = { recipe: '', claude: '', base: '', baseId: '', certificates: '', platform: '' };
  return { version: VERSION, program, ...others };
}

async function build(tag: string, from: string, labels: Labels, step: string): Promise<ImageInfo> {
  tags.push(tag);
  await engine.buildImage(newBuild(from, [step], { tag, labels: { ...MARK, ...labels } }), () => undefined);
  const image = await engine.inspectImage(tag);
  if (image === undefined) throw new Error(`${tag} is not there`);
  return image;
}

function buildWorker(program: string): Promise<ImageInfo> {
  const parts = partsOf(program);
  const content = hashValues(parts);
  const labels = {
    'mahabharatha.content': content,
    'mahabharatha.version': VERSION,
    'mahabharatha.parts': JSON.stringify(parts),
  };
  return build(tagOf('mahabharatha-worker', content), base, labels, `ENV PROGRAM=${program}`);
}

function buildRepository(from: string, step: string, checkout = PROJECT): Promise<ImageInfo> {
  const content = hashValues({ step, checkout });
  const labels = {
    'mahabharatha.content': content,
    'mahabharatha.checkout': checkoutKey(checkout),
  };
  return build(tagOf('mahabharatha-repository', content), from, labels, step);
}

const tagOfImage = ({ tags }: ImageInfo): string => tags[0] ?? '';
const asBuilt = (kind: BuiltImage['kind'], image: ImageInfo): BuiltImage => {
  const { id, bytes } = image;
  return { kind, id, bytes, tag: tagOfImage(image), ms: 1, cached: false, replaced: null };
};

function removeAfter(ms: number, ...built: BuiltImage[]): Promise<Removed[]> {
  return removeSuperseded(ours, { built, project: PROJECT, now: Date.now() + ms });
}
const isThere = async ({ id }: ImageInfo): Promise<boolean> => (await engine.inspectImage(id)) !== undefined;

describe.skipIf(why !== '')(`images that a build has superseded${why === '' ? '' : ` (${why})`}`, () => {
  afterAll(async () => {
    await removeAll(engine, tags);
    forgetBuilds(MARK);
  });

  it('go when they are forgotten and unused; a second name that is not ours keeps an image', async () => {
    const [old, used, shared, current] = [
      await buildWorker('old'),
      await buildWorker('used'),
      await buildWorker('shared'),
      await buildWorker('new'),
    ];
    const foreign = `mahabharatha-test:${randomId()}`;
    tags.push(foreign);
    await engine.tagImage(shared.id, foreign);
    const container = await engine.createContainer(newSpec(tagOfImage(used), 'exit 0'));

    expect(await removeAfter(0, asBuilt('worker', current))).toEqual([]);
    const removed = await removeAfter(IN_TWO_DAYS, asBuilt('worker', current));
    const gone = [
      { name: tagOfImage(old), what: 'image', bytes: old.bytes },
      { name: tagOfImage(shared), what: 'name', bytes: shared.bytes },
    ];
    expect(removed.map(({ name, what, bytes }) => ({ name, what, bytes })).toSorted(byName)).toEqual(
      gone.toSorted(byName),
    );
    expect(await Promise.all([old, used, shared, current].map(isThere))).toEqual([false, true, true, true]);
    expect(await engine.inspectImage(shared.id)).toMatchObject({ tags: [foreign] });

    await engine.removeContainer(container);
    expect(await removeAfter(IN_TWO_DAYS, asBuilt('worker', current))).toMatchObject([{ name: tagOfImage(used) }]);
    expect(await isThere(used)).toBe(false);
  });

  it("go with the repository's image first, which is built on the worker's; another checkout's stays", async () => {
    const [oldWorker, worker] = [await buildWorker('below'), await buildWorker('newest')];
    const old = await buildRepository(tagOfImage(oldWorker), 'ENV STEP=old');
    const others = await buildRepository(tagOfImage(worker), 'ENV STEP=others', `${PROJECT}-else`);
    const current = await buildRepository(tagOfImage(worker), 'ENV STEP=new');
    const removed = await removeAfter(IN_TWO_DAYS, asBuilt('worker', worker), asBuilt('repository', current));
    const names = removed.map(({ name }) => name);
    expect(names.indexOf(tagOfImage(old))).toBeLessThan(names.indexOf(tagOfImage(oldWorker)));
    expect(await Promise.all([old, oldWorker].map(isThere))).toEqual([false, false]);
    expect(await Promise.all([others, worker, current].map(isThere))).toEqual([true, true, true]);
  });

  it("go by no id: what has no name and was built on one of ours is somebody else's", async () => {
    const below = await buildRepository(base, 'ENV STEP=below');
    const tag = `mahabharatha-test:${randomId()}`;
    const mine = await build(tag, tagOfImage(below), {}, 'ENV MINE=1');
    await build(tag, base, {}, 'ENV MINE=2');
    const current = await buildRepository(base, 'ENV STEP=last');
    await removeAfter(IN_TWO_DAYS, asBuilt('repository', current));
    expect(await isThere(mine)).toBe(true);
    await engine.removeImage(mine.id);
  });

  it('go at once and by their id when they were made anew under the same name', async () => {
    const first = await buildWorker('first');
    const second = await build(tagOfImage(first), base, first.labels, 'ENV PROGRAM=again');
    expect(await isThere(first)).toBe(true);
    expect(await removeAfter(0, { ...asBuilt('worker', second), replaced: first.id })).toMatchObject([
      { name: first.id },
    ]);
    expect([await isThere(first), await isThere(second)]).toEqual([false, true]);
  });
});

const byName = (one: { name: string }, other: { name: string }): number => (one.name < other.name ? -1 : 1);

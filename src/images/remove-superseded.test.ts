import { beforeEach, describe, expect, it } from 'vitest';
import { newSpec } from '../../test/support/containers.ts';
import { createFakeEngine, createFakeEngineMachine, takeDown } from '../../test/support/fake-engine.ts';
import type { FakeEngineMachine } from '../../test/support/fake-engine.ts';
import type { Engine } from '../engines/index.ts';
import type { BuiltImage } from './build-images.ts';
import { contextFile, hashValues, tagOf } from './content.ts';
import type { Parts } from './parts.ts';
import { removeSuperseded } from './remove-superseded.ts';
import type { Removed } from './remove-superseded.ts';

const DAY = 24 * 60 * 60 * 1000;
const PARTS: Parts = {
  version: '1.2.3',
  program: '',
  recipe: '',
  claude: '',
  base: '',
  baseId: '',
  certificates: '',
  platform: '',
};

let machine: FakeEngineMachine;
let engine: Engine;
beforeEach(() => {
  machine = createFakeEngineMachine((container) => container.stdout('ready\n'), []);
  engine = createFakeEngine(machine);
});

/** A worker image, as a build of ours would leave it. */
async function build(program: string): Promise<BuiltImage> {
  const parts = { ...PARTS, program };
  const content = hashValues(parts);
  const tag = tagOf('mahabharatha-worker', content);
  const labels = {
    'mahabharatha.content': content,
    'mahabharatha.version': parts.version,
    'mahabharatha.parts': JSON.stringify(parts),
  };
  const files = [contextFile('Dockerfile', 'FROM x\n')];
  const options = { dockerfile: 'Dockerfile', buildArgs: {}, platform: null, noCache: false };
  const id = await engine.buildImage({ tag, files, labels, ...options }, () => undefined);
  return { kind: 'worker', tag, id, bytes: 1, ms: 1, cached: false, replaced: null };
}

const removeAfter = (built: BuiltImage, ms: number, signal?: AbortSignal): Promise<Removed[]> => {
  const removal = { built: [built], project: null, now: Date.now() + ms };
  return removeSuperseded(engine, signal === undefined ? removal : { ...removal, signal });
};

describe('what a build has superseded', () => {
  it('is removed a day after somebody has wanted it last, and is told', async () => {
    const [old, current] = [await build('old'), await build('new')];
    expect(await removeAfter(current, DAY - 60_000)).toEqual([]);
    expect(await removeAfter(current, DAY + 60_000)).toMatchObject([
      { kind: 'worker', name: old.tag, what: 'image', bytes: 1000 },
    ]);
    expect([...machine.images.keys()]).toEqual([current.tag]);
  });

  it('stays while a container has it', async () => {
    const [old, current] = [await build('old'), await build('new')];
    await engine.createContainer(newSpec(old.tag, ''));
    expect(await removeAfter(current, 2 * DAY)).toEqual([]);
    expect(await engine.inspectImage(old.tag)).toBeDefined();
  });

  it("loses only our name when it has somebody else's too", async () => {
    const [old, current] = [await build('old'), await build('new')];
    await engine.tagImage(old.id, 'mine:1');
    expect(await removeAfter(current, 2 * DAY)).toMatchObject([{ name: old.tag, what: 'name' }]);
    expect([...machine.images.keys()].toSorted()).toEqual([current.tag, 'mine:1'].toSorted());
  });

  it('stays when somebody chooses it at the last moment', async () => {
    const [old, current] = [await build('old'), await build('new')];
    const { inspectImage } = engine;
    const chosen = {
      ...(await inspectImage(old.tag)),
      namedAt: new Date(Date.now() + 2 * DAY).toISOString(),
    } as Awaited<ReturnType<typeof inspectImage>>;
    engine = { ...engine, inspectImage: async (name) => (name === old.tag ? chosen : inspectImage(name)) };
    expect(await removeAfter(current, 2 * DAY)).toEqual([]);
    expect(machine.images.has(old.tag)).toBe(true);
  });

  it('is no error when it cannot be removed or seen, and the others go all the same', async () => {
    const [one, other, current] = [await build('one'), await build('other'), await build('new')];
    const { removeImage } = engine;
    const stubborn = async (tag: string): Promise<void> => {
      if (tag === one.tag) throw new Error('no');
      await removeImage(tag);
    };
    engine = { ...engine, removeImage: stubborn };
    expect((await removeAfter(current, 2 * DAY)).map(({ name }) => name)).toEqual([other.tag]);
    takeDown(machine);
    expect(await removeAfter(current, 2 * DAY)).toEqual([]);
  });

  it('is gone when it cannot be looked at any more', async () => {
    const [old, current] = [await build('old'), await build('new')];
    const { inspectImage } = engine;
    const going: typeof inspectImage = async (name) => {
      if (name === old.id) throw new Error('layer does not exist');
      return inspectImage(name);
    };
    engine = { ...engine, inspectImage: going };
    expect(await removeAfter(current, 2 * DAY)).toMatchObject([{ name: old.tag, what: 'image' }]);
  });

  it('stays when the build is called off meanwhile', async () => {
    const [, current] = [await build('old'), await build('new')];
    expect(await removeAfter(current, 2 * DAY, AbortSignal.abort())).toEqual([]);
    expect(machine.images.size).toBe(2);
  });

  it('goes at once when an image of the same content has taken its name', async () => {
    const nameless = {
      id: 'sha256:0',
      labels: {},
      user: '',
      arch: '',
      env: {},
      bytes: 7,
      createdAt: '',
      namedAt: '',
      tags: [],
    };
    const gone: string[] = [];
    const removeImage = async (id: string): Promise<void> => void gone.push(id);
    const { inspectImage } = engine;
    const find: typeof inspectImage = async (id) =>
      id !== nameless.id ? inspectImage(id) : gone.length > 0 ? undefined : nameless;
    engine = { ...engine, removeImage, inspectImage: find };
    const current = { ...(await build('new')), replaced: nameless.id };
    expect(await removeAfter(current, 0)).toMatchObject([{ name: nameless.id, bytes: 7 }]);
    expect(gone).toEqual([nameless.id]);
  });
});

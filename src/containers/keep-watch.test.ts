import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { withResolvers } from '../../test/support/with-resolvers.ts';
import type { ContainerExit, Engine } from '../engines/index.ts';
import { sleep } from '../lib/index.ts';
import type { StartedContainer } from './container-wish.ts';
import { createWatches } from './keep-watch.ts';
import type { Output } from './output.ts';

const OUTPUT: Output = { ended: Promise.resolve(), settled: async () => undefined };
/** Longer than until the first measurement. */
const MEASURED_MS = 4000;

/** A container that keeps more than it may, and lives until it is killed. */
function openScene() {
  const [done, waited]: [string[], string[]] = [[], []];
  const exit = withResolvers<ContainerExit>();
  const kill = (): void => exit.resolve({ code: 137, oomKilled: false });
  const engine = {
    waitContainer: (id: string) => {
      waited.push(id);
      return exit.promise;
    },
    signalContainer: async (_: string, signal: string) => {
      done.push(signal);
      kill();
    },
  } as unknown as Engine;
  const folder = path.join(tempFolder(), 'tree');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'large'), Buffer.alloc(100_000, 1));
  const upkeep = {
    disk: { folders: [folder], bytes: 1000, setting: 'disk' },
    memoryBytes: 1,
    resume: () => OUTPUT,
    empty: async () => void done.push('emptied'),
  };
  const container = (id: string): StartedContainer => ({ id, upkeep }) as unknown as StartedContainer;
  const watches = createWatches(engine, (work) => work());
  return { done, waited, watches, kill, container, ended: watches.begin(container('c'), OUTPUT) };
}

it('a container that keeps more than it may is killed, and its folders are emptied', async () => {
  const { done, ended } = openScene();
  expect(await ended).toMatchObject({ overLimit: expect.stringContaining('the limit is 1000 bytes') });
  expect(done).toEqual(['SIGKILL', 'emptied']);
});

it('a container that is being removed keeps what it has finished, however much that is', async () => {
  const { done, watches, kill, ended } = openScene();
  watches.letBe('c');
  await sleep(MEASURED_MS);
  kill();
  expect((await ended).overLimit).toBeUndefined();
  expect(done).toEqual([]);
});

it('of containers that have ended only the last are known, so that a server does not grow with each', async () => {
  const { waited, watches, kill, container } = openScene();
  kill();
  for (let each = 0; each < 300; each += 1) await watches.begin(container(`c${each}`), OUTPUT);
  await watches.end(container('c0'));
  await watches.end(container('c299'));
  expect(waited.slice(300)).toEqual(['c299', 'c0']);
});

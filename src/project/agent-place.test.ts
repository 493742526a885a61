import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { Engine } from '../engines/index.ts';
import { imagePlace, machinePlace } from './agent-place.ts';

it('an agent that the repository brings is looked for there, whichever folder this process is in', async () => {
  const root = tempFolder();
  await mkdir(path.join(root, 'tools'));
  const file = path.join(root, 'tools', 'agent.sh');
  // An engine that is asked anything fails the test.
  const image = { engine: {} as Engine, image: 'any', runtime: null, root, mounts: [] };
  const places = [machinePlace({}, root), imagePlace(image)];
  const look = async (): Promise<boolean[]> =>
    Promise.all(places.map(async (place) => (await place.look('tools/agent.sh', 'presence')).found));
  expect(await look()).toEqual([false, false]);
  await writeFile(file, '#!/bin/sh\n', { mode: 0o644 });
  expect(await look(), 'it is not executable').toEqual([false, false]);
  await chmod(file, 0o755);
  expect(await look()).toEqual([true, true]);
});

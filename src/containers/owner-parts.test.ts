import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { Engine } from '../engines/index.ts';
import type { ContainersOptions } from './options.ts';
import type { Owner } from './owner.ts';
import { createOwnerParts } from './owner-parts.ts';

const OWNER: Owner = { id: 'r', kind: 'run', labels: {}, leaseFolder: '/nowhere', egressLog: '/nowhere/log' };

const PROGRAM = Promise.resolve({ command: [], env: {} });
const egress = { program: PROGRAM, image: 'image', uid: 1, gid: 1, runtime: null, access: null };
const options = (engine: Engine): ContainersOptions => ({
  engine,
  egress,
  volumes: [],
  startSweeper: () => ({ close: () => undefined }),
});

it('an egress proxy that cannot be started fails the container that is being started, however long that takes', async () => {
  const engine = {
    createVolume: async () => undefined,
    listVolumes: async () => [],
    listContainers: async () => [],
    inspectImage: async () => undefined,
    createContainer: async () => Promise.reject(new Error('there is no bridge')),
  } as unknown as Engine;
  const parts = createOwnerParts(options(engine));
  const { wayOut } = await parts.of(OWNER);
  await expect(wayOut()).rejects.toThrow('there is no bridge');
  // A rejection without a handler would end the whole process.
  await delay(20);
  await parts.close('r');
});

it('an egress proxy that could not be started is started for the next container, whatever has failed', async () => {
  // The first time its program is not there, the second time the engine refuses, then all is well.
  const programs = [Promise.reject(new Error('no program')), PROGRAM, PROGRAM];
  const refusals = [new Error('there is no bridge')];
  programs[0]?.catch(() => undefined);
  const engine = {
    createVolume: async () => undefined,
    listVolumes: async () => [],
    listContainers: async () => {
      const refusal = refusals.shift();
      return refusal === undefined
        ? [{ id: 'there', status: 'running', labels: { 'mahabharatha.egress-access': '' } }]
        : Promise.reject(refusal);
    },
    logs: async () => undefined,
    waitContainer: async () => new Promise(() => undefined),
    signalContainer: async () => Promise.reject(new Error('it is gone')),
  } as unknown as Engine;
  const changing = {
    ...egress,
    get program() {
      return programs.shift() ?? PROGRAM;
    },
  };
  const parts = createOwnerParts({ ...options(engine), egress: changing });
  const owner = { ...OWNER, egressLog: path.join(tempFolder(), 'log') };
  const ask = async (): Promise<void> => (await parts.of(owner)).wayOut();
  await expect(ask()).rejects.toThrow('no program');
  await expect(ask()).rejects.toThrow('there is no bridge');
  await ask();
  await parts.close('r');
});

import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { Engine } from '../engines/index.ts';
import type { WorkerSpec } from '../launchers/launcher.ts';
import { createRunParts } from './run-parts.ts';
import type { ContainerSettings } from './settings.ts';

const SPEC = { runId: 'r', feature: 'f', shared: '/nowhere', log: '/nowhere/log' } as WorkerSpec;

const settings = {
  image: 'none',
  repo: '/nowhere',
  uid: 1,
  gid: 1,
  egress: { program: Promise.resolve({ command: [], env: {} }), env: Promise.resolve({}) },
  caches: [],
  runtime: null,
} as unknown as ContainerSettings;

it('a way out that cannot be made is told to the worker that is being started, however long that takes', async () => {
  const engine = {
    createVolume: async () => undefined,
    listVolumes: async () => [],
    listContainers: async () => [],
    inspectImage: async () => undefined,
    createContainer: async () => Promise.reject(new Error('there is no bridge')),
  } as unknown as Engine;
  const parts = createRunParts({ engine, settings, startSweeper: () => ({ close: () => undefined }) });
  const { wayOut } = await parts.of(SPEC);
  await expect(wayOut()).rejects.toThrow('there is no bridge');
  // A rejection that nobody hears would end the whole run.
  await delay(20);
  await parts.close('r');
});

it('a way out that could not be made is made anew for the next worker, whatever has failed', async () => {
  // The first time its program is not there, the second time the engine refuses, then all is well.
  const programs = [Promise.reject(new Error('no program')), settings.egress?.program, settings.egress?.program];
  const refusals = [new Error('there is no bridge')];
  programs[0]?.catch(() => undefined);
  const engine = {
    createVolume: async () => undefined,
    listVolumes: async () => [],
    listContainers: async () => {
      const refusal = refusals.shift();
      return refusal === undefined ? [{ id: 'there', status: 'running' }] : Promise.reject(refusal);
    },
    logs: async () => undefined,
    waitContainer: async () => new Promise(() => undefined),
    signalContainer: async () => Promise.reject(new Error('it is gone')),
  } as unknown as Engine;
  const egress = {
    get program() {
      return programs.shift();
    },
  };
  const own = { ...settings, egress } as unknown as ContainerSettings;
  const parts = createRunParts({ engine, settings: own, startSweeper: () => ({ close: () => undefined }) });
  const run = { ...SPEC, log: path.join(tempFolder(), 'log') };
  const ask = async (): Promise<void> => (await parts.of(run)).wayOut();
  await expect(ask()).rejects.toThrow('no program');
  await expect(ask()).rejects.toThrow('there is no bridge');
  await ask();
  await parts.close('r');
});

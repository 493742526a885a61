import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Engine } from '../../engines/index.ts';
import type { WorkerSpec } from '../launcher.ts';
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
    listContainers: async () => [],
    createContainer: async () => Promise.reject(new Error('there is no bridge')),
  } as unknown as Engine;
  const parts = createRunParts({ engine, settings, startSweeper: () => ({ close: () => undefined }) });
  const { wayOut } = await parts.of(SPEC);
  await expect(wayOut()).rejects.toThrow('there is no bridge');
  // A rejection that nobody hears would end the whole run.
  await delay(20);
  await parts.close('r');
});

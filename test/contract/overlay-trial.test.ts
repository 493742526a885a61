import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineErrors } from '../../src/engines/errors.ts';
import { tryOverlay, tryOverlayOnce } from '../../src/snapshots/index.ts';
import { findWorkerUsers } from '../../src/project/worker-users.ts';
import { MARK } from '../support/containers.ts';
import { dockerForTests } from '../support/docker.ts';
import { tempFolder } from '../support/temp-folder.ts';

const { engine, image, why } = await dockerForTests();
const STOP = new AbortController().signal;

describe.skipIf(why !== '')(`the trial of overlays with the real engine${why && ` (${why})`}`, async () => {
  const info = { id: 'an engine', version: '1', endpoint: 'here' };
  const users = await findWorkerUsers();
  const trial = (top: string) => ({ engine, info, image, users, runtime: null, labels: MARK, top, place: top });
  const refusing = {
    ...engine,
    // The options of this mount are what an engine without overlays refuses.
    createContainer: (spec: Parameters<typeof engine.createContainer>[0]) =>
      engine.createContainer({
        ...spec,
        mounts: spec.mounts.map((mount) =>
          mount.kind === 'overlay' ? { ...mount, lower: ['/no such folder'] } : mount,
        ),
      }),
  };

  it('finds that it can, leaves nothing, and is remembered for that engine alone', async () => {
    const top = tempFolder();
    expect(await tryOverlayOnce(trial(top), STOP)).toEqual({ able: true });
    expect(await readdir(top)).toEqual(['.engine']);
    const gone = { ...engine, createContainer: () => Promise.reject(new Error('asked again')) };
    expect(await tryOverlayOnce({ ...trial(top), engine: gone }, STOP)).toEqual({ able: true });
    const other = { ...trial(top), info: { ...info, id: 'another engine' }, engine: gone };
    await expect(tryOverlayOnce(other, STOP)).rejects.toThrow('asked again');
    expect(await engine.listContainers(MARK)).toEqual([]);
  });

  it('tells an engine that refuses overlays from one that starts no container', async () => {
    const top = tempFolder();
    expect(await tryOverlayOnce({ ...trial(top), engine: refusing }, STOP)).toEqual({
      able: false,
      reason: expect.stringContaining('no such folder'),
    });
    expect(await readdir(top)).toEqual([]);
    await expect(tryOverlay({ ...trial(top), image: 'no-such-image:1' }, STOP)).rejects.toMatchObject({
      code: 'IMAGE_MISSING',
    });
    const full = engineErrors.ENGINE_FAILED({ call: 'start container', reason: 'no space left on device' });
    const failing = { ...engine, startContainer: () => Promise.reject(full) };
    await expect(tryOverlay({ ...trial(top), engine: failing }, STOP)).rejects.toBe(full);
    expect(await engine.listContainers(MARK)).toEqual([]);
  });

  it('needs no engine where the name of the folder separates layers', async () => {
    const answer = await tryOverlay(trial(path.join(tempFolder(), 'a:b')), STOP);
    expect(answer).toEqual({ able: false, reason: expect.stringContaining('a:b') });
  });
});

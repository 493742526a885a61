import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDockerEngine } from '../../src/engines/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { runtimeVolume } from '../../src/sandbox/index.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const AGENT = '/opt/mahabharatha/sandbox-agent.mjs';

const isWhole = (volume: string): boolean => {
  const mount = `type=volume,source=${volume},target=/opt/mahabharatha,readonly`;
  const args = ['run', '--rm', '--mount', mount, docker.image, '/opt/mahabharatha/node', '--check', AGENT];
  execFileSync('docker', args);
  return true;
};

describe.skipIf(docker.why !== '')(`the volume with Node and the sandbox agent${whySkipped}`, () => {
  const engine = createDockerEngine({ kind: 'socket', path: '/var/run/docker.sock' });
  let tag = '';
  let id = '';
  const own = async (): Promise<string[]> => {
    const volumes = await engine.listVolumes({ 'mahabharatha.role': 'runtime' });
    const names = volumes.map(({ name }) => name);
    return names.filter((name) => name.includes(id.slice('sha256:'.length).slice(0, 16))).toSorted();
  };
  beforeAll(async () => {
    tag = await buildSandboxImage();
    // Of an image that no other test has, as far as the name tells.
    id = `sha256:${randomId()}${randomId()}`;
  });
  afterAll(async () => {
    for (const name of await own()) await engine.removeVolume(name);
  });

  it('is whole for each of several servers that start together, and there for later ones', async () => {
    const names = await Promise.all([1, 2, 3, 4].map(() => runtimeVolume(engine, { tag, id })));
    expect([...new Set(names)].every(isWhole)).toBe(true);
    const before = await own();
    expect(names).toContain(await runtimeVolume(engine, { tag, id }));
    expect(await own()).toEqual(before);
  });

  it('is not left behind when the image has no agent', async () => {
    const other = { tag: docker.image, id: `sha256:${randomId()}${randomId()}` };
    await expect(runtimeVolume(engine, other)).rejects.toMatchObject({ code: 'SANDBOX_NOT_READY' });
    const volumes = await engine.listVolumes({ 'mahabharatha.role': 'runtime' });
    expect(volumes.filter(({ name }) => name.includes(other.id.slice(7, 23)))).toEqual([]);
  });
});

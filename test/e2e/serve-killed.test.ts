import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const containersOf = (home: string): string[] => {
  const args = ['ps', '-aq', '--filter', `label=mahabharatha.servers=${home}/mahabharatha/servers`];
  return execFileSync('docker', args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
};

describe.skipIf(docker.why !== '')(`a server that is killed${whySkipped}`, () => {
  beforeAll(buildSandboxImage);

  it('leaves no container and no folder, under load, and the next one works', async () => {
    const first = await serveForTest();
    const { body } = await first.ask('POST', '/v1/sessions', { project_id: 'x', runtime_type: 'shell' });
    const busy = [
      first.ask('POST', `/v1/sessions/${String(body['session_id'])}/exec`, { command: 'yes' }),
      ...[1, 2, 3].map(() => first.ask('POST', '/execute/shell', { code: 'sleep 9' })),
    ].map((asked) => asked.catch(() => undefined));
    await waitUntil('three containers', () => containersOf(first.home).length === 3);
    await first.end('SIGKILL');
    await Promise.all(busy);
    const second = await serveForTest({ home: first.home });
    await waitUntil('the containers of the first are gone', () => containersOf(first.home).length === 2);
    const servers = path.join(first.home, 'mahabharatha', 'servers');
    await waitUntil('its folder is gone', () => readdirSync(servers).length === 1);
    expect((await second.ask('GET', '/v1/sessions')).body).toEqual({ sessions: [] });
    expect((await second.ask('POST', '/execute/shell', { code: 'echo next' })).body).toMatchObject({
      stdout: 'next\n',
    });
    expect(await second.end()).toBe(0);
    expect(containersOf(first.home)).toEqual([]);
    expect(existsSync(servers)).toBe(false);
  });

  it('shutdown kills and removes all containers immediately, also while programs run', async () => {
    const served = await serveForTest();
    const asked = served.ask('POST', '/execute/shell', { code: 'sleep 9' }).catch(() => undefined);
    await waitUntil('it runs', async () => (await served.ask('GET', '/health')).status === 200);
    expect(await served.end()).toBe(0);
    await asked;
    expect(containersOf(served.home)).toEqual([]);
  });
});

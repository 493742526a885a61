import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

describe.skipIf(docker.why !== '')(`spare containers of sessions${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildWorkerImage();
    served = await serveForTest({ warm: 1 });
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
    expect(containers('')).toEqual([]);
  });

  const containers = (name: string, format = '{{.Names}}'): string[] => {
    const home = `label=mahabharatha.servers=${served.home}/mahabharatha/servers`;
    const args = ['ps', '-a', '--filter', home, '--filter', `name=${name}`, '--no-trunc', '--format', format];
    return execFileSync('docker', args, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  };
  const spares = async (): Promise<unknown> => (await served.ask('GET', '/health')).body['warm'];
  const full = (): Promise<void> =>
    waitUntil('all spares, and no remains of others', async () => {
      const states = containers('session-spare', '{{.State}}');
      if (states.length !== 3 || states.some((state) => state !== 'running' && state !== 'paused')) return false;
      return JSON.stringify(await spares()) === '{"node":1,"python":1,"shell":1}';
    });
  const open = async (project = 'p'): Promise<string> => {
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: project, runtime_type: 'shell' });
    return String(body['session_id']);
  };
  const exec = async (session: string, command: string): Promise<unknown> =>
    (await served.ask('POST', `/v1/sessions/${session}/exec`, { command })).body['stdout'];

  it('are there after the start, are given out once, and others take their place', async () => {
    await full();
    const before = containers('session-spare', '{{.ID}}');
    expect(before).toHaveLength(3);
    const figures = await (await fetch(`${served.address}/metrics`)).text();
    for (const counted of ['"session"} 0', '"spare"} 3', '"language"} 2'])
      expect(figures).toContain(`mahabharatha_containers{kind=${counted}\n`);
    const [one, two] = [await open('one'), await open('two')];
    const [first] = containers(one.replace('_', '-'), '{{.ID}}');
    expect(before).toContain(first);
    expect(containers(two.replace('_', '-'), '{{.ID}}')).not.toEqual([first]);
    expect(await exec(one, 'pwd; touch mine; ls -A')).toBe('/workspace/one\nmine\n');
    expect(await exec(two, 'pwd; ls -A')).toBe('/workspace/two\n');
    await served.ask('DELETE', `/v1/sessions/${one}`);
    expect(containers(one.replace('_', '-'))).toEqual([]);
    await full();
    expect(containers('session-spare', '{{.ID}}')).not.toContain(first);
    await served.ask('DELETE', `/v1/sessions/${two}`);
  });

  it.each(['kill', 'pause', 'rm --force --volumes'])(
    'are not given out when "docker %s" has ended them',
    async (how) => {
      await full();
      execFileSync('docker', [...how.split(' '), ...containers('session-spare')]);
      const session = await open();
      expect(await exec(session, 'echo canary')).toBe('canary\n');
      await served.ask('DELETE', `/v1/sessions/${session}`);
      await full();
    },
  );
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appleUser } from '../support/apple.ts';
import { runProgram, serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const standIns = (): string[] => {
  const args = [
    'ps',
    '-a',
    '--filter',
    'label=apple.stand-in=1',
    '--format',
    '{{.Names}} {{.Label "mahabharatha.servers"}}',
  ];
  return execFileSync('docker', args, { encoding: 'utf8' }).split('\n');
};

describe.skipIf(docker.why !== '')(`serve on Apple's engine${whySkipped}`, () => {
  let served: Served;
  const user = mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-'));
  const own = (): string[] => standIns().filter((line) => line.includes(served.home));
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({ env: appleUser(user), warm: 1 });
  });
  afterAll(async () => {
    const before = own();
    expect(await served.end()).toBe(0);
    rmSync(user, { recursive: true });
    expect([before.length > 0, own()]).toEqual([true, []]);
  });

  const open = (more: object = {}): ReturnType<Served['ask']> =>
    served.ask('POST', '/v1/sessions', { project_id: 'p', runtime_type: 'shell', ...more });

  it('runs commands of a session, takes files and gives them back, and ends it', async () => {
    const session = String((await open()).body['session_id']);
    const exec = async (command: string): Promise<object> =>
      (await served.ask('POST', `/v1/sessions/${session}/exec`, { command })).body;
    expect(await exec('mkdir -p a && cd a && echo hi > x; id -u; echo err >&2; exit 3')).toMatchObject({
      stdout: expect.stringMatching(/^19\d{8}\n$/),
      stderr: 'err\n',
      exit_code: 3,
      cwd: '/workspace/p/a',
    });
    expect(await exec('cat x; cat /opt/mahabharatha/node')).toMatchObject({
      stdout: 'hi\n',
      stderr: expect.stringContaining('Permission denied'),
    });
    const files = [{ path: './b/y.txt', content: 'sent' }];
    const uploaded = await served.ask('POST', `/v1/sessions/${session}/upload`, { files });
    expect(uploaded).toMatchObject({ status: 200, body: { synced: 1 } });
    expect(await exec('cat ../b/y.txt')).toMatchObject({ stdout: 'sent' });
    const its = (): string[] => own().filter((line) => line.includes(session.replace('_', '-')));
    expect(its()).toHaveLength(1);
    expect((await served.ask('DELETE', `/v1/sessions/${session}`)).status).toBe(200);
    expect(its()).toEqual([]);
  });

  it('runs a program of a language', async () => {
    const code = 'console.log(6 * 7); process.exitCode = 4';
    expect(await runProgram(served, 'javascript', code)).toMatchObject({ stdout: '42\n', exit_code: 4 });
    const second = await runProgram(served, 'javascript', 'console.log(7)');
    expect(second).toMatchObject({ stdout: '7\n', exit_code: 0 });
  });

  it('refuses what the engine lacks', async () => {
    const refused = { status: 501, body: { code: 'SESSION_UNABLE' } };
    for (const wish of [{ network: true }, { cache: true }]) expect(await open(wish)).toMatchObject(refused);
  });

  it('has Node and the agent in one folder of its own, which others cannot enter', () => {
    const folder = path.join(served.home, 'mahabharatha/runtimes');
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
  });

  it('leaves no container when it is killed', async () => {
    const killed = await serveForTest({ env: appleUser(mkdtempSync(path.join(user, 'killed-'))) });
    const left = (): string[] => standIns().filter((line) => line.includes(killed.home));
    await killed.ask('POST', '/v1/sessions', { project_id: 'p', runtime_type: 'shell' });
    expect(left().length).toBeGreaterThan(1);
    await killed.end('SIGKILL');
    await waitUntil('its containers are gone', () => left().length === 0);
    await waitUntil(
      'its folder is gone',
      () => readdirSync(path.join(killed.home, 'mahabharatha/servers')).length === 0,
    );
    rmSync(killed.home, { recursive: true });
  });
});

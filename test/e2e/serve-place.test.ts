import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { freePort } from '../support/free-port.ts';
import { serveForTest } from '../support/served.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

/** A PATH with Node alone. */
function pathWithoutGit(): string {
  const folder = tempFolder();
  symlinkSync(process.execPath, path.join(folder, 'node'));
  return folder;
}

describe.skipIf(docker.why !== '')(`where a server is started${whySkipped}`, () => {
  beforeAll(buildSandboxImage);
  it('needs neither a git repository nor git', async () => {
    const served = await serveForTest({ env: { PATH: pathWithoutGit() } });
    expect((await served.ask('POST', '/execute/shell', { code: 'echo hi' })).body).toMatchObject({ stdout: 'hi\n' });
    expect(await served.end()).toBe(0);
  });

  it.each([
    [['--port', '65536'], 'is not a port'],
    [['--port', 'nope'], 'is not a port'],
    [['--config', 'nope.yaml'], 'There is no file'],
  ])('refuses %j', async (args, problem) => {
    await expect(serveForTest({ args })).rejects.toThrow(problem);
  });

  it('listens on 127.0.0.1 alone, unless HOST and PORT of the environment or the command line say otherwise', async () => {
    const port = await freePort();
    const served = await serveForTest({ env: { PORT: `${port}` } });
    expect(served.address).toBe(`http://127.0.0.1:${port}`);
    await expect(fetch(`http://${bridgeAddress()}:${port}/health`)).rejects.toThrow('fetch failed');
    expect(await served.end()).toBe(0);
    await expect(serveForTest({ env: { HOST: bridgeAddress() } })).rejects.toThrow('other machines reach the server');
  });

  it('needs tokens on an address that other machines reach, or the word that it needs none', async () => {
    const args = ['--host', bridgeAddress()];
    await expect(serveForTest({ args })).rejects.toThrow('other machines reach the server');
    const served = await serveForTest({ args: [...args, '--insecure-no-token'] });
    expect((await served.ask('POST', '/execute/shell', { code: 'echo hi' })).body).toMatchObject({ stdout: 'hi\n' });
    expect(await served.askAs('evil.example', '/health')).toMatchObject({ code: 'HOST_REFUSED' });
    expect(await served.end()).toBe(0);
  });

  it('needs git in a repository, whose settings need an approval; not when another file is named', async () => {
    const home = tempFolder();
    mkdirSync(path.join(home, '.git'));
    const env = { ...process.env, PATH: pathWithoutGit(), XDG_STATE_HOME: home };
    const started = (): string =>
      execFileSync(process.execPath, [PROGRAM, 'serve'], { cwd: home, env, stdio: 'pipe' }).toString();
    expect(started).toThrow('git cannot be started');
    const served = await serveForTest({ home, env: { PATH: pathWithoutGit() } });
    expect(await served.end()).toBe(0);
  });

  it('leaves alone what a server of another machine has in the same engine', async () => {
    const served = await serveForTest();
    const labels = (machine: string): string[] =>
      Object.entries({
        'mahabharatha.kind': 'server',
        'mahabharatha.owner': `server-of-${machine}`,
        'mahabharatha.servers': path.join(served.home, 'mahabharatha/servers'),
        'mahabharatha.machine': machine,
      }).flatMap(([name, value]) => ['--label', `${name}=${value}`]);
    const create = (machine: string): string =>
      execFileSync('docker', ['create', ...labels(machine), docker.image, 'true'], { encoding: 'utf8' }).trim();
    const [foreign, own] = [create('another'), create(hostname())];
    const second = await serveForTest({ home: served.home });
    const there = execFileSync('docker', ['ps', '-aq', '--no-trunc'], { encoding: 'utf8' });
    execFileSync('docker', ['rm', foreign]);
    expect([there.includes(foreign), there.includes(own)]).toEqual([true, false]);
    expect(await second.end()).toBe(0);
    expect(await served.end()).toBe(0);
  });
});

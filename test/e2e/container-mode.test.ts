import { existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { randomId } from '../../src/lib/index.ts';
import { certify } from '../support/certificate.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const NO_ENGINE = 'unix:///nonexistent/docker.sock';
const RUN = ['kurukshetra', '--workers', '1'];

let project: ContainerProject;

async function prepare(container?: string): Promise<void> {
  project = await createContainerProject(container === undefined ? {} : { container });
  await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'echo a > a.txt' }]);
}

const runWith = async (mode: string, ...more: string[]): Promise<{ exit: number | null; said: string }> => {
  const { exit, stdout, stderr } = await project.cli(...RUN, '--mode', mode, ...more);
  return { exit, said: stdout + stderr };
};
const modeOf = async (): Promise<string | undefined> => (await project.state()).workers['0']?.mode;

describe.skipIf(docker.why !== '')(`the mode of a run${whySkipped}`, () => {
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('TC-002 container shows in a dry run, which starts nothing', async () => {
    await prepare();
    const { exit, said } = await runWith('container', '--dry-run');
    expect(said).toMatch(/Mode container, agent \w+\. Nothing was started\./);
    expect(exit).toBe(0);
    await expect(project.state()).rejects.toMatchObject({ code: 'ENOENT' });
    const { stdout } = await project.cli(...RUN, '--mode', 'auto', '--dry-run', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      mode: { name: 'container', wished: 'auto', because: 'an engine and a fresh image are there', unprotected: [] },
      settings: { mode: 'container' },
      warnings: ['a run will ask for your approval first: .mahabharatha/config.yaml is new (+5 -0 lines)'],
    });
  });

  it('container shows the warnings of a run in a dry run', async () => {
    await prepare('allow: ["localhost:3000"]');
    const { exit, said } = await runWith('container', '--dry-run');
    expect(said).toContain('note: "localhost" in workers.container.allow is this machine');
    expect(exit).toBe(0);
  });

  it('auto is container when an engine and a fresh image are there; nothing is built then', async () => {
    await prepare();
    const { exit, said } = await runWith('auto', '--auto-build');
    expect(said).toContain('mode auto: container, because an engine and a fresh image are there');
    expect(said).toContain('1 worker (container)');
    expect(said).not.toMatch(/building/i);
    expect(exit).toBe(0);
    expect(await modeOf()).toBe('container');
  });

  it('auto and container refuse without an engine, and say what to do', async () => {
    await prepare();
    project.env['DOCKER_HOST'] = NO_ENGINE;
    const insisted = await runWith('container');
    expect(insisted.exit).toBe(4);
    expect(insisted.said).toMatch(/No container engine can be reached:\n +- DOCKER_HOST: .*\n\nStart Docker/);
    const auto = await runWith('auto');
    expect(auto.exit).toBe(4);
    expect(auto.said).toMatch(
      /uses no subprocesses here[^]*sets workers\.container[^]*\n\nStart Docker .*--mode subprocess/,
    );
    await expect(project.state()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('TC-010 subprocess asks no engine', async () => {
    await prepare();
    project.env['DOCKER_HOST'] = NO_ENGINE;
    const { exit, said } = await runWith('subprocess');
    expect(said).toContain('1 worker (subprocess)');
    expect(said).not.toMatch(/engine|mode auto/);
    expect(exit).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:a.txt')).toBe('a\n');
  });

  it('a stale image is built anew without a question, and the mode is printed first', async () => {
    await prepare();
    // Made for this test: no other test on the same engine builds, or removes, an image of the same content.
    project.env['NODE_EXTRA_CA_CERTS'] = certify('127.0.0.1', project.outside).file;
    const first = /^mode auto: container, because an engine is there; the image is built anew: .*certificates/;
    const dry = await project.cli(...RUN, '--mode', 'auto', '--dry-run');
    expect(dry.stdout).toMatch(first);
    expect(dry.exit).toBe(0);
    expect(dry.stderr).not.toMatch(/building/i);
    const { exit, stdout, stderr } = await project.cli(...RUN, '--mode', 'auto');
    const tag = /Building the worker image (\S+),/.exec(stderr)?.[1] ?? '';
    try {
      expect(exit, stderr).toBe(0);
      expect(stdout).toMatch(first);
      expect(await modeOf()).toBe('container');
    } finally {
      await buildWorkerImage();
      spawnSync('docker', ['image', 'rm', tag]);
    }
  });

  it('a Dockerfile of the repository that cannot be built never sends workers to the host', async () => {
    await prepare();
    const only = `this-test-${randomId()}`;
    await project.write('.mahabharatha/Dockerfile', `FROM mahabharatha-worker\nENV MADE_FOR=${only}\n`);
    const without = await runWith('auto');
    expect(without.exit).toBe(4);
    expect(without.said).toMatch(
      /There is no image of this repository\.[^]*kurukshetra --feature login --auto-build\./,
    );
    const planned = await runWith('auto', '--dry-run');
    expect(planned.exit).toBe(0);
    expect(planned.said).toMatch(
      /writes a\.txt[^]*note: a run could not begin now: There is no image of this repository\./,
    );
    expect((await project.cli('doctor')).stdout).toMatch(
      /✗ image +the repository's image is not built\n.*mahabharatha build/,
    );
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'echo "$MADE_FOR" > a.txt' }]);
    const { exit, said } = await runWith('auto', '--auto-build');
    const tag = /Building the repository's own image (\S+),/.exec(said)?.[1] ?? '';
    try {
      expect(said).toContain('mode auto: container');
      expect(exit).toBe(0);
      expect(project.git('show', 'mahabharatha/login/integration:a.txt')).toBe(`${only}\n`);
      await project.write('.mahabharatha/Dockerfile', 'FROM mahabharatha-worker\nRUN false\n');
      await project.write('.mahabharatha/docker/tool', 'x');
      await project.cli('cleanup', '--yes');
      const what = '\\.mahabharatha/Dockerfile has changed; a file in \\.mahabharatha/docker has changed';
      const doctor = await project.cli('doctor');
      expect(doctor.stdout).toMatch(
        new RegExp(`! image +the repository's image is stale: ${what}\\n.*mahabharatha build`),
      );
      const dry = await runWith('auto', '--dry-run');
      expect(dry.said).toMatch(new RegExp(`^mode auto: container, .*the image is built anew: ${what}\\n`));
      expect(dry.said).toContain('a run will ask for your approval first: .mahabharatha/Dockerfile has changed');
      for (const mode of ['container', 'auto']) {
        const failed = await runWith(mode);
        expect(failed.exit).toBe(4);
        expect(failed.said).toMatch(/^mode [^]*Building the image \S+ failed/);
      }
    } finally {
      spawnSync('docker', ['image', 'rm', tag]);
    }
  });

  it('container comes with a check of the machine: doctor', async () => {
    await prepare();
    const credentials = { ANTHROPIC_API_KEY: 'made-up-key' };
    Object.assign(project.env, credentials);
    const well = await project.cli('doctor');
    expect(well.stdout).toMatch(/✓ engine +docker \S+ at /);
    expect(well.stdout).toMatch(/✓ image +mahabharatha-worker:[0-9a-f]{12}/);
    expect(well.stdout).toMatch(/[✓!] limits /);
    expect(well.stdout).toMatch(/✓ overlay worktrees +yes: workers start from snapshots/);
    expect(existsSync(path.join(project.env['HOME'] ?? '', '.local/state/mahabharatha/runs/snapshots'))).toBe(false);
    expect(well.stdout).toMatch(/✓ agent +claude \d+\.\d+\.\d+ of the image/);
    expect(well.stdout).toMatch(
      /✓ credentials +ANTHROPIC_API_KEY is set; handover: claude in the container gets it, because with "network: none"/,
    );
    expect(well.exit).toBe(0);
    project.env['XDG_STATE_HOME'] = path.join(project.env['HOME'] ?? '', 'a,b');
    expect((await project.cli('doctor')).stdout).toMatch(/! overlay worktrees +no, copies are used: .*a,b.*\n +→/);
    delete project.env['XDG_STATE_HOME'];
    const settings = await project.read('.mahabharatha/config.yaml');
    await project.config('workers: { mode: container, container: { credentials: inject } }\n');
    const injects = await project.cli('doctor');
    expect(injects.stdout).toMatch(
      /✓ credentials .*; inject: the egress proxy adds it to requests for api\.anthropic\.com/,
    );
    await project.config('workers: { mode: container, container: { credentials: inject, network: none } }\n');
    const cannot = await project.cli('doctor');
    expect(cannot.stdout).toMatch(/! credentials +workers\.container\.credentials is "inject", but .*"network: none"/);
    await project.config(settings);

    delete project.env['ANTHROPIC_API_KEY'];
    project.env['DOCKER_HOST'] = NO_ENGINE;
    await project.graph('login', [{ id: 'A', create: ['a.txt'] }]);
    const folder = path.join(project.env['HOME'] ?? '', '.claude');
    const login = { accessToken: 'made-up-token', expiresAt: Date.parse('2020-01-02T03:04:05Z') };
    await project.at(folder).write('.credentials.json', JSON.stringify({ claudeAiOauth: login }));
    const ill = await project.cli('doctor');
    expect(ill.stdout).toMatch(/✗ engine +DOCKER_HOST: .*\n +→ Start Docker/);
    expect(ill.stdout).toMatch(
      /✗ credentials +\S+\.credentials\.json: the login has expired \(2020-01-02T.*\n +→ Run "claude"/,
    );
    expect(ill.exit).toBe(4);
    await project.config('workers: { mode: auto }\n');
    const auto = await project.cli('doctor');
    expect(auto.stdout).toMatch(/✗ engine +DOCKER_HOST/);
    expect(auto.exit).toBe(4);
    await project.config('workers: { mode: subprocess }\n');
    const subprocess = await project.cli('doctor');
    expect(subprocess.stdout).toMatch(/! engine +DOCKER_HOST/);
    expect(subprocess.stdout).toMatch(/! credentials/);
    expect(subprocess.exit).toBe(0);
    for (const { stdout } of [well, ill, auto]) expect(stdout).not.toContain('made-up');
  });

  it('container gives workers at most the CPUs of the engine, and only one of its runtimes', async () => {
    await prepare('network: none\ncpus: 1000');
    const { said } = await runWith('container');
    expect(said).toContain('1 of 1 tasks are merged');
    expect(said).toMatch(/note: a worker may use 1000 CPUs, the engine has \d+\. Workers make do with what there is\./);
    expect((await project.cli('doctor')).stdout).toMatch(/! limits +a worker may use 1000 CPUs, the engine has \d+\n/);
    await project.remove();
    await prepare('network: none\nruntime: no-such-runtime');
    const refused = await runWith('container');
    expect(refused.exit).toBe(4);
    expect(refused.said).toMatch(/the engine has no runtime "no-such-runtime"[^]*it has .*runc/);
    expect((await project.cli('doctor')).stdout).toMatch(/✗ limits +there is no runtime "no-such-runtime", but .*runc/);
  });
});

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLAUDE_CODE_VERSION } from '../../src/images/index.ts';
import { reduce } from '../../src/orchestrator/reduce.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import type { CliResult } from '../support/project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const askDocker = (...args: string[]): string =>
  execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Goes on when the test lets it. */
const waiting = (file: string): string =>
  `echo "${file} is begun"; touch ready; until test -e go; do sleep 0.05; done; rm ready go; echo x > ${file}`;

describe.skipIf(docker.why !== '')(`the test cases of the requirements, in containers${whySkipped}`, () => {
  let project: ContainerProject;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    live?.child.kill();
    await live?.end;
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  const inWorktree = (worker: number, file: string): string =>
    path.relative(project.folder, project.inWorkers('login', String(worker), `mahabharatha-worker-${worker}`, file));

  const isThere = async (file: string): Promise<boolean> =>
    project.read(file).then(
      () => true,
      () => false,
    );
  const letGo = (worker: number): Promise<void> => project.write(inWorktree(worker, 'go'), '');

  async function startWaiting(...args: string[]): Promise<void> {
    live = project.start('kurukshetra', ...args);
    await waitUntil('a task waits', async () => {
      if (live?.child.exitCode !== null) throw new Error(live?.output());
      return isThere(inWorktree(0, 'ready'));
    });
  }

  async function finished(): Promise<CliResult> {
    if (live === undefined) throw new Error('nothing was started');
    return live.end;
  }

  it('TC-001 the image is built, and Claude Code works in it', async () => {
    project = await createContainerProject();
    const { exit, stdout } = await project.cli('build', '--base-image', docker.image);
    expect(exit).toBe(0);
    const tag = /^worker image {2}(\S+)/.exec(stdout)?.[1] ?? '';
    const version = askDocker('run', '--rm', '--network', 'none', '--entrypoint', 'claude', tag, '--version');
    expect(version).toContain(CLAUDE_CODE_VERSION);
  });

  it('TC-003 two workers build a feature level by level, gates and all; TC-009 then there is no container', async () => {
    project = await createContainerProject();
    await project.config(
      'workers: { mode: container, container: { network: none } }\ngates: [{ name: whole, command: ls a.txt b.txt }]\n',
    );
    await project.graph('login', [
      { id: 'A', level: 1, create: ['a.txt'], run: 'hostname > a.txt', verify: 'test -s a.txt' },
      { id: 'B', level: 1, create: ['b.txt'], run: 'hostname > b.txt', verify: 'test -s b.txt' },
      { id: 'C', level: 2, dependencies: ['A', 'B'], create: ['c.txt'], run: 'cat a.txt b.txt > c.txt' },
    ]);
    const { exit, stdout } = await project.cli('kurukshetra', '--mode', 'container', '--workers', '2');
    expect(stdout).toContain('3 of 3 tasks are merged');
    expect(exit).toBe(0);
    expect((await project.cli('merge')).exit).toBe(0);
    const hosts = (await project.read('c.txt')).trim().split('\n');
    expect(hosts.toSorted()).toEqual(['worker-0', 'worker-1']);
    expect(hosts).not.toContain(execFileSync('hostname', { encoding: 'utf8' }).trim());
    for (const level of Object.values((await project.state()).levels))
      expect(level).toMatchObject({ status: 'complete', gates: [{ name: 'whole', ok: true }] });
    expect(project.containers()).toEqual([]);
  });

  it('TC-004 another terminal sees live workers with their containers, and what docker logs says is what logs says', async () => {
    project = await createContainerProject();
    await project.graph('login', [
      { id: 'A', level: 1, create: ['a.txt'], run: waiting('a.txt') },
      { id: 'B', level: 2, create: ['b.txt'], run: 'echo b > b.txt' },
    ]);
    await startWaiting('--workers', '1');

    const [container] = project.containers();
    const id = container?.Id ?? '';
    const view = JSON.parse((await project.cli('status', '--json')).stdout) as object;
    expect(view).toMatchObject({
      status: 'running',
      orchestrator: { pid: live?.pid },
      tasks: { A: { status: 'running' }, B: { status: 'pending' } },
      workers: {
        '0': { status: 'RUNNING', mode: 'container', task: 'A', phase: 'running', containerId: id, pid: null },
      },
    });
    const { stdout } = await project.cli('status');
    expect(stdout).toMatch(new RegExp(`0 +RUNNING +container +A +heartbeat \\d+ s ago +${id.slice(0, 12)}`));
    await waitUntil('both show the line', () => askDocker('logs', id).includes('a.txt is begun'));
    const logs = await project.cli('logs', '0', '--json', '--tail', 'all');
    expect(logs.stdout).toContain('a.txt is begun');
    // The worker may say more between the two looks.
    expect(askDocker('logs', id).startsWith(logs.stdout)).toBe(true);
    await letGo(0);
    expect((await finished()).exit).toBe(0);
    expect((await project.cli('status')).stdout).toMatch(/[01] +STOPPED +container/);
  });

  it('TC-006 a worker that crashes is CRASHED in the state, its container is gone, and its task is done all the same', async () => {
    project = await createContainerProject();
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: waiting('a.txt') }]);
    await startWaiting('--workers', '1');
    const [crashed] = project.containers();
    const id = crashed?.Id ?? '';

    const before = await project.state();
    askDocker('kill', '--signal', 'KILL', id);

    await waitUntil('its end is in the state', async () =>
      (await project.events()).some(({ type }) => type === 'worker-exited'),
    );
    const exited = (await project.events()).find(({ type }) => type === 'worker-exited');
    if (exited === undefined) throw new Error('it is not there any more');
    // A new life follows at once, so the state of that moment is made from its event, as the orchestrator does.
    expect(reduce(before, exited).workers['0']).toMatchObject({
      status: 'CRASHED',
      cause: expect.stringContaining('SIGKILL'),
    });
    await waitUntil('another container does the task', async () => {
      const others = project.containers().filter(({ Id }) => Id !== id);
      return others.length === 1 && (await isThere(inWorktree(0, 'ready')));
    });
    expect(project.containers().map(({ Id }) => Id)).not.toContain(id);
    await letGo(0);
    expect((await finished()).exit).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:a.txt')).toBe('x\n');
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findByEnvironment, randomId, tryLock } from '../../src/lib/index.ts';
import { eventsSoFar, killIfThere, sees } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { slowTask as task } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';
import { waitUntil } from '../support/wait-until.ts';

const run = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' }).trim();

const stillRun = (ids: readonly string[]): boolean[] =>
  ids.map((id) => run('inspect', '--format', '{{.State.Running}}', id) === 'true');
/** A worker that hears no more of its orchestrator ends after a grace: a paused one is there however long others take. */
const pauseAll = (project: ContainerProject): void => {
  for (const { Id } of project.containers()) run('pause', Id);
};
const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};
/** Broken off while a worker is at work. */
const brokenOff = async (project: ContainerProject, ...args: string[]): Promise<void> => {
  const live = project.start('kurukshetra', '--workers', '1', ...args);
  await sees(live, () => eventsSoFar(project).some(({ type }) => type === 'worker-phase'));
  pauseAll(project);
  killIfThere(live.pid, 'SIGKILL');
  await live.end;
};

describe.skipIf(docker.why !== '')(`what is left in the engine, and whose it is${whySkipped}`, () => {
  const projects: ContainerProject[] = [];
  const foreign: string[] = [];
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    for (const id of foreign.splice(0)) run('rm', '--force', '--volumes', id);
    for (const project of projects.splice(0)) {
      expect(project.leftovers()).toEqual([]);
      for (const pid of await findByEnvironment('HOME', project.env['HOME'] ?? '')) killIfThere(pid, 'SIGKILL');
      await project.remove();
    }
  });

  /** No test waits for the lease: it is so long that nothing is ended, or too old, because the machine is slow. */
  const newProject = async (): Promise<ContainerProject> => {
    const project = await createContainerProject({ workers: 'lease: 20m' });
    projects.push(project);
    return project;
  };
  /** A container that is none of ours, whatever it looks like. */
  const makeForeign = (name: string, labels: Readonly<Record<string, string>> = {}): string => {
    const marks = Object.entries(labels).flatMap(([label, value]) => ['--label', `mahabharatha.${label}=${value}`]);
    const command = ['--network', 'none', '--entrypoint', 'sleep', docker.image, '3600'];
    const id = run('run', '--detach', '--rm', '--name', name, ...marks, ...command);
    foreign.push(id);
    return id;
  };

  it('runs, stops, resumes and cleans up beside containers that look like its own, and touches none of them', async () => {
    const project = await newProject();
    const lock = path.join(project.folder, '.mahabharatha', 'state', 'other', 'lock.json');
    mkdirSync(path.dirname(lock), { recursive: true });
    const held = await tryLock(lock);
    const elsewhere = { run: randomId(), repo: `${project.folder}-2`, feature: 'login', worker: '0', role: 'worker' };
    const ids = [
      makeForeign(`mahabharatha-worker-7-${randomId()}`),
      makeForeign(`mahabharatha-worker-0-${randomId()}`, elsewhere),
      makeForeign(`mahabharatha-worker-1-${randomId()}`, { ...elsewhere, repo: project.folder, feature: 'other' }),
    ];
    await project.graph('login', [task('A', 30)]);
    const live = project.start('kurukshetra', '--feature', 'login', '--workers', '1');
    await sees(live, () => eventsSoFar(project).some(({ type }) => type === 'worker-phase'));
    expect((await project.cli('stop', '--feature', 'login')).exit).toBe(0);
    await live.end;
    await project.graph('login', [task('A')]);
    expect((await project.cli('kurukshetra', '--feature', 'login', '--resume')).exit).toBe(0);
    const clean = await project.cli('cleanup', '--feature', 'login', '--yes');
    expect([clean.exit, clean.stdout.includes('container ')]).toEqual([0, false]);
    expect(stillRun(ids)).toEqual([true, true, true]);
    if (held.taken) await held.release();
    // Without an owner, but too young to be an orphan.
    await project.graph('login', [task('A')]);
    expect((await project.cli('kurukshetra', '--feature', 'login')).exit).toBe(0);
    expect(stillRun(ids)).toEqual([true, true, true]);
    run('rm', '--force', '--volumes', foreign.pop() ?? '');
  });

  it('takes another name where a foreign container has the usual one', async () => {
    const project = await newProject();
    await project.graph('login', [task('A')]);
    let id: string | undefined;
    try {
      id = makeForeign('mahabharatha-worker-0');
    } catch {
      // Another test's run has it at this moment: that is as good.
    }
    expect((await project.cli('kurukshetra', '--workers', '1')).exit).toBe(0);
    if (id !== undefined) expect(stillRun([id])).toEqual([true]);
  });

  it('keeps runs of two repositories, and two features of one, apart', async () => {
    const [one, two] = [await newProject(), await newProject()];
    for (const project of [one, two]) await project.graph('login', [task('A', 1), task('B', 1), task('C', 0.1)]);
    await one.graph('search', [task('A', 1), task('B', 1)]);
    const ends = await Promise.all([
      one.cli('kurukshetra', '--feature', 'login', '--workers', '2'),
      one.cli('kurukshetra', '--feature', 'search', '--workers', '2'),
      two.cli('kurukshetra', '--workers', '2'),
    ]);
    expect(ends.map(({ exit }) => exit)).toEqual([0, 0, 0]);
    const states = [await one.state('login'), await one.state('search'), await two.state('login')];
    expect(states.flatMap(({ tasks }) => Object.values(tasks).map(({ attempts }) => attempts.length))).toEqual(
      Array.from({ length: 8 }, () => 1),
    );
  });

  it('leaves one sweeper to a run that was killed and resumed: the new one', async () => {
    const project = await newProject();
    await project.graph('login', [task('A', 1), task('B', 600)]);
    const sweepers = async (): Promise<number[]> => {
      const pids = await findByEnvironment('HOME', project.env['HOME'] ?? '');
      return pids.filter((pid) => commandOf(pid).includes('sweeper.js'));
    };
    await brokenOff(project);
    const old = await sweepers();
    expect(old).toHaveLength(1);
    const live = project.start('kurukshetra', '--resume');
    await waitUntil('one sweeper is left, and it is a new one', async () => {
      const now = await sweepers();
      return now.length === 1 && now[0] !== old[0];
    });
    live.child.kill('SIGTERM');
    expect((await live.end).exit).toBe(143);
  });

  it('lets twenty workers work at once', async () => {
    const project = await newProject();
    await project.config(
      'workers: { mode: container, lease: 20m, container: { network: none, memory: 256m, cpus: 0.5 } }\n',
    );
    const ids = Array.from({ length: 20 }, (_, index) => `T${index}`);
    const together = 'test "$(ls /workspace | wc -l)" -ge 1 && sleep 3';
    await project.graph(
      'login',
      ids.map((id) => ({ ...task(id), run: `${together}; echo ${id} > ${id}.txt` })),
    );
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '20');
    expect(exit, `${stdout}\n${stderr}`).toBe(0);
    const { workers, tasks } = await project.state();
    expect(Object.keys(workers)).toHaveLength(20);
    expect(Object.values(tasks).map(({ attempts }) => attempts.length)).toEqual(ids.map(() => 1));
  });

  it('is ended by stop, also when the orchestrator is dead', async () => {
    const project = await newProject();
    await project.graph('login', [task('A', 60)]);
    await brokenOff(project);
    const stop = await project.cli('stop');
    expect([stop.exit, stop.stdout]).toEqual([0, expect.stringContaining('ended 1 containers that it had left')]);
    expect(project.leftovers()).toEqual([]);
  });

  it('is listed by cleanup before it is removed, with what other runs have left, without what is alive', async () => {
    const project = await newProject();
    await project.graph('login', [task('A', 60)]);
    const lost = `mahabharatha-egress-${randomId()}`;
    const lostRun = randomId();
    const labels = { owner: lostRun, kind: 'run', run: lostRun, feature: 'gone', repo: project.folder };
    run('volume', 'create', ...Object.entries(labels).map(([name, is]) => `--label=mahabharatha.${name}=${is}`), lost);
    const cache = `mahabharatha-cache-${randomId()}`;
    run('volume', 'create', `--label=mahabharatha.cache=${project.folder}`, cache);
    const live = project.start('kurukshetra', '--workers', '1');
    await sees(live, () => eventsSoFar(project).some(({ type }) => type === 'worker-phase'));
    expect(run('volume', 'ls', '--quiet', '--filter', `name=${lost}`), 'taken by the run that starts').toBe('');
    const [worker] = project.containers();
    const name = worker?.Name.slice(1) ?? 'none';
    const alive = await project.cli('cleanup', '--dry-run', '--feature', 'login');
    expect(alive.stdout).not.toContain(name);
    run(
      'volume',
      'create',
      ...Object.entries(labels).map(([label, is]) => `--label=mahabharatha.${label}=${is}`),
      lost,
    );
    pauseAll(project);
    killIfThere(live.pid, 'SIGKILL');
    await live.end;
    const shown = await project.cli('cleanup', '--dry-run', '--json', '--feature', 'login');
    const plan = JSON.parse(shown.stdout) as { removed: boolean; engine: { runs: object[]; caches: string[] } };
    expect(plan).toMatchObject({ removed: false, engine: { caches: [], problems: [] } });
    expect(plan.engine.runs).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ feature: 'login', containers: [name], volumes: [] }),
        expect.objectContaining({ feature: 'gone', containers: [], volumes: [lost] }),
      ]),
    );
    expect(project.leftovers()).toEqual([name, lost]);
    const clean = await project.cli('cleanup', '--yes', '--feature', 'login');
    expect(clean.stdout).toContain(`container ${name}`);
    expect(clean.stdout).toContain(`volume   ${lost}, left by run ${labels.run} of "gone"`);
    expect(project.leftovers()).toEqual([]);
    expect(run('volume', 'ls', '--quiet', '--filter', `name=${cache}`), 'caches stay').toBe(cache);
    const caches = await project.cli('cleanup', '--yes', '--caches', '--feature', 'login');
    expect([caches.exit, caches.stdout]).toEqual([0, expect.stringContaining(`cache    ${cache}`)]);
    expect(run('volume', 'ls', '--quiet', '--filter', `name=${cache}`)).toBe('');
  });

  it('can be cleaned up after a run that has ended, also when the engine does not answer', async () => {
    const project = await newProject();
    await project.graph('login', [task('A')]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    project.env['DOCKER_HOST'] = `unix://${project.outside}/none.sock`;
    const { exit, stdout, stderr } = await project.cli('cleanup', '--yes', '--feature', 'login');
    expect([exit, stdout]).toEqual([0, expect.stringContaining('Removed.')]);
    expect(stderr).toContain('note: what containers have left could not be seen: No container engine can be reached');
    await project.graph('broken', [{ id: 'A', create: ['a.txt'], run: 'sleep 60' }]);
    const reachable = project.env['DOCKER_HOST'];
    delete project.env['DOCKER_HOST'];
    const live = project.start('kurukshetra', '--feature', 'broken');
    await waitUntil('it is at work', () => project.containers().some(({ State }) => State.Running));
    live.child.kill('SIGKILL');
    await live.end;
    project.env['DOCKER_HOST'] = reachable;
    const blind = await project.cli('cleanup', '--yes', '--feature', 'broken');
    expect([blind.exit, blind.stderr]).toEqual([4, expect.stringContaining('Nothing of "broken" was removed')]);
    expect((await project.state('broken')).status).toBe('running');
    delete project.env['DOCKER_HOST'];
    expect((await project.cli('cleanup', '--yes', '--feature', 'broken')).exit).toBe(0);
    project.env['DOCKER_HOST'] = reachable;
    await project.graph('plain', [task('A')]);
    expect((await project.cli('kurukshetra', '--feature', 'plain', '--mode', 'subprocess')).exit).toBe(0);
    const plain = await project.cli('cleanup', '--yes', '--feature', 'plain');
    expect([plain.exit, plain.stderr], 'where there were no containers no engine is looked for').toEqual([0, '']);
  });
});

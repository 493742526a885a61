import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { killIfThere } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { waitFor } from '../support/project.ts';
import type { TestTask } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const INTEGRATION = 'mahabharatha/login/integration';

/** Each time it runs it makes another stamp; like an installer it also leaves what no rule ignores, and changes a file. */
const SETUP =
  'mkdir -p node_modules; cat /proc/sys/kernel/random/uuid > node_modules/stamp; echo tool > tool.txt; echo more >> README.md';

const STAMPED = 'test -s node_modules/stamp && test -s tool.txt';

/** Shows the stamp of the set-up that it has met, and spoils what it can. */
const stamps = (id: string, task: Partial<TestTask> = {}): TestTask => ({
  id,
  create: [`${id}.txt`],
  run: `cat node_modules/stamp > ${id}.txt; git status --short >> ${id}.txt; echo spoiled > node_modules/stamp; echo x > node_modules/left`,
  verify: 'test -s node_modules/stamp',
  ...task,
});

/** Commits a path that git's own files do not have. */
const plumbing = (mode: string, name: string, content: string): string =>
  `id=$(${content} | git hash-object -w --stdin); git update-index --add --cacheinfo ${mode},$id,${name}; git update-index --skip-worktree ${name}`;

describe.skipIf(docker.why !== '')(`workers that start from a snapshot${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    project = await createContainerProject();
    await project.write('.gitignore', 'node_modules/\n');
    await project.write('package-lock.json', '{ "version": 1 }\n');
    project.commit('a project that needs a set-up');
  });
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  const configure = async (more: string, setup = SETUP): Promise<void> => {
    const given = await project.read('.mahabharatha/config.yaml');
    await project.config(`${given.replace('workers:\n', `workers:\n  setup: ${JSON.stringify(setup)}\n`)}${more}`);
  };
  const shown = (file: string): string => project.git('show', `${INTEGRATION}:${file}`);
  const folder = (): string => path.join(project.env['HOME'] ?? '', '.local/state/mahabharatha/runs/snapshots');
  const kept = (): string[] =>
    existsSync(folder()) ? readdirSync(folder()).filter((name) => !name.startsWith('.')) : [];
  /** What is left of runs outside the repository. */
  const runs = (): string[] => readdirSync(path.dirname(folder())).filter((name) => name !== 'snapshots');
  const begun = async (): Promise<number> =>
    (await project.events()).filter(({ type }) => type === 'snapshot-begun').length;

  it('have one set-up for twelve tasks, failed attempts and gates, and none sees what another has left', async () => {
    await configure(
      `retry: { attempts: 2 }\ngates: [{ name: stamp, command: '${STAMPED} && ! test -e node_modules/left' }]\n`,
    );
    const tasks = Array.from({ length: 11 }, (_, index) => stamps(`T${index}`, { level: index < 8 ? 1 : 2 }));
    await project.graph('login', [...tasks, stamps('FAILS', { level: 1, verify: 'false' })]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '4');
    expect(exit, stdout).toBe(1);
    const { tasks: ends } = await project.state();
    expect(ends['FAILS']?.attempts.map(({ outcome }) => outcome)).toEqual([
      'verification-failed',
      'verification-failed',
    ]);
    const texts = tasks.map(({ id }) => shown(`${id}.txt`).trim().split('\n'));
    const [stamp = ''] = texts[0] ?? [];
    expect(stamp).toMatch(/^[0-9a-f-]{36}$/);
    expect(texts).toEqual(tasks.map(({ id }) => [stamp, `?? ${id}.txt`, '?? tool.txt']));
    expect(await begun()).toBe(1);
    expect(project.git('ls-tree', '--name-only', INTEGRATION)).not.toContain('tool.txt');
    expect(shown('README.md')).toBe(project.git('show', 'main:README.md'));
  });

  it('have it again after a merge that changes a lock file, and the next run has none', async () => {
    await configure('');
    await project.graph('login', [
      stamps('A', { level: 1 }),
      { id: 'LOCK', level: 1, modify: ['package-lock.json'], run: 'echo 2 > package-lock.json' },
      stamps('B', { level: 2 }),
      stamps('C', { level: 2 }),
    ]);
    const first = await project.cli('kurukshetra', '--workers', '2');
    expect(first.exit, first.stdout).toBe(0);
    const [a, b, c] = ['A', 'B', 'C'].map((id) => shown(`${id}.txt`).split('\n')[0]);
    expect(b).toBe(c);
    expect(a).not.toBe(b);
    expect(await begun()).toBe(2);
    expect(kept()).toHaveLength(2);
    await project.graph('next', [stamps('D')]);
    const second = await project.cli('kurukshetra', '--feature', 'next', '--workers', '1');
    expect(second.exit, second.stdout).toBe(0);
    expect(second.stdout).not.toContain('set-up of');
    expect(project.git('show', 'mahabharatha/next/integration:D.txt').split('\n')[0]).toBe(a);
  });

  it('end the run with what the set-up said when it fails, without a charge', async () => {
    await configure('', 'echo no such package; exit 7');
    await project.graph('login', [stamps('A'), stamps('B')]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout).toBe(1);
    expect(stdout).toMatch(/Workers cannot be set up: the set-up ".*" failed: .*7/);
    expect((await project.cli('logs')).stdout).toMatch(/^\S+ snapshot setup +no such package$/m);
    const { tasks } = await project.state();
    for (const id of ['A', 'B']) expect(tasks[id]).toMatchObject({ status: 'pending', failures: 0, losses: 0 });
    expect(kept()).toEqual([]);
  });

  it('that cannot be made of the merged work of tasks blame the task with which that begins, and the run goes on', async () => {
    // Either change is good alone.
    const setup = 'if grep -q 2 package-lock.json && test -e B.txt; then echo not in sync; exit 9; fi';
    await configure(`retry: { attempts: 1 }\ngates: [{ name: any, command: 'true' }]\n`, setup);
    await project.graph('login', [
      { id: 'A', level: 1, modify: ['package-lock.json'], run: 'echo 2 > package-lock.json' },
      { id: 'B', level: 1, create: ['B.txt'], run: 'echo B > B.txt' },
      { id: 'C', level: 1, create: ['C.txt'], run: 'echo C > C.txt' },
      { id: 'D', level: 2, create: ['D.txt'], run: 'echo D > D.txt' },
    ]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout).toBe(1);
    expect(stdout).toContain('run failed: 3 of 4 tasks are done, 1 failed');
    const { tasks } = await project.state();
    expect(['C', 'D'].map((id) => tasks[id]?.status)).toEqual(['complete', 'complete']);
    const culprit = ['A', 'B'].map((id) => tasks[id]).find((task) => task?.status === 'failed');
    expect(culprit?.attempts[0]).toMatchObject({ outcome: 'gate-failed' });
    expect(culprit?.feedback).toMatch(
      /on the merged tree:\nWorkers cannot be set up: the set-up ".*" failed: .*9\nnot in sync/,
    );
  });

  it('are at their commit whatever the set-up does to its files', async () => {
    await project.write('check.sh', 'exit 1 # red\n');
    project.commit('a check');
    const forge =
      'touch -r check.sh /tmp/time; printf "exit 0 # red\\n" > check.sh; touch -r /tmp/time check.sh; ' +
      '(while :; do printf "exit 0 # red\\n" > check.sh; touch -r /tmp/time check.sh; sleep 0.01; done) & ' +
      'git update-index --assume-unchanged check.sh; git update-index --skip-worktree check.sh';
    await configure(`gates: [{ name: honest, command: 'bash check.sh' }]\n`, forge);
    await project.graph('login', [{ id: 'A', create: ['A.txt'], run: 'cat check.sh > A.txt' }]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout).toBe(1);
    expect(stdout).toContain('the gates are red already without any task');
  });

  it('of rejected work serve no gate and no other task', async () => {
    // The set-up runs code of the repository; an attempt that changes the lock file changes that, too.
    await project.write('hook.sh', 'true\n');
    project.commit('a hook');
    await configure(
      `retry: { attempts: 1 }\n`,
      'bash hook.sh; mkdir -p node_modules; test -e node_modules/evil || echo good > node_modules/tool',
    );
    const lock = { modify: ['package-lock.json', 'hook.sh'], level: 1 };
    await project.graph('login', [
      {
        id: 'EVIL',
        ...lock,
        run: 'echo 2 > package-lock.json; echo "mkdir -p node_modules; touch node_modules/evil" > hook.sh',
        verify: 'false',
      },
      {
        id: 'GOOD',
        level: 2,
        modify: ['package-lock.json'],
        run: 'echo 2 > package-lock.json',
        verify: 'grep good node_modules/tool',
      },
    ]);
    const { stdout } = await project.cli('kurukshetra', '--workers', '1');
    const { tasks } = await project.state();
    expect(tasks['EVIL']?.status, stdout).toBe('failed');
    expect(tasks['GOOD']?.status, stdout).toBe('complete');
  });

  it('are not made of work that cannot be checked out: its attempt fails, and the run goes on', async () => {
    await configure('retry: { attempts: 1 }\n');
    const long = 'n'.repeat(300);
    await project.graph('login', [
      { id: 'NAME', create: ['n*'], verify: 'true', run: plumbing('100644', long, 'echo x') },
      {
        id: 'LINK',
        create: ['link'],
        verify: 'true',
        run: plumbing('120000', 'link', 'head -c 5000 /dev/zero | tr "\\0" x'),
      },
      { id: 'UNVERIFIED', create: ['in/*'], run: plumbing('100644', `in/${long}`, 'echo x') },
      stamps('GOOD'),
    ]);
    const { stdout } = await project.cli('kurukshetra', '--workers', '2');
    const { tasks } = await project.state();
    expect(tasks['GOOD']?.status, stdout).toBe('complete');
    for (const id of ['NAME', 'LINK', 'UNVERIFIED'])
      expect(tasks[id]?.attempts[0], id).toMatchObject({ detail: expect.stringMatching(/cannot be checked out/) });
  });

  it('are not made any longer than their run: the cap on its time ends a set-up at once, and nothing of it is left', async () => {
    await configure('', 'sleep 600');
    await project.graph('login', [stamps('A'), stamps('B')]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2', '--max-time', '4s');
    expect(exit, stdout).toBe(3);
    expect(stdout).toMatch(/paused — time \d+ s, cap 4 s/);
    const { startFailures, tasks } = await project.state();
    expect([startFailures, tasks['A']?.losses, tasks['B']?.losses]).toEqual([0, 0, 0]);
    expect([project.leftovers(), kept(), runs()]).toEqual([[], [], []]);
  });

  it('are listed and removed by cleanup, when no live run uses them, and those of other repositories never', async () => {
    await configure('');
    await project.graph('login', [stamps('A')]);
    expect((await project.cli('kurukshetra', '--workers', '1')).exit).toBe(0);
    const [id = ''] = kept();
    const foreign = path.join(folder(), 'foreign');
    cpSync(path.join(folder(), id), foreign, { recursive: true });
    const facts = await readFile(path.join(foreign, 'snapshot.json'), 'utf8');
    await writeFile(path.join(foreign, 'snapshot.json'), facts.replace(project.folder, '/another/repository'));
    await project.graph('other', [{ id: 'WAITS', create: ['w.txt'], run: 'while ! test -e go; do sleep 0.2; done' }]);
    const live = project.start('kurukshetra', '--feature', 'other', '--workers', '1');
    await waitFor('a worker is at its task', async () =>
      project.containers().some(({ Name }) => /worker-0/.test(Name)),
    );
    const dry = await project.cli('cleanup', '--feature', 'login', '--dry-run');
    expect(dry.stdout).toMatch(/Kept: 1 snapshot of this repository: a live run uses it/);
    killIfThere(live.pid, 'SIGINT');
    await live.end;
    const { stdout } = await project.cli('cleanup', '--feature', 'login', '--dry-run');
    expect(stdout).toContain(`  snapshot ${id} (`);
    expect(kept().toSorted()).toEqual([id, 'foreign'].toSorted());
    const removed = await project.cli('cleanup', '--feature', 'login', '--yes');
    expect(removed.exit, removed.stdout).toBe(0);
    expect(kept()).toEqual(['foreign']);
  });

  it('are sound when everything is killed while one is made', async () => {
    await configure('', `${SETUP}; sleep 2`);
    await project.graph('login', [stamps('A'), stamps('B')]);
    const live = project.start('kurukshetra', '--workers', '2');
    await waitFor('a set-up is under way', async () =>
      project.containers().some(({ Name, State }) => Name.includes('mahabharatha-snapshot-') && State.Running),
    );
    killIfThere(live.pid, 'SIGKILL');
    await live.end;
    // One that has just ended, or was not started yet, cannot be killed.
    for (const { Id } of project.containers()) spawnSync('docker', ['kill', Id]);
    const { exit, stdout } = await project.cli('kurukshetra', '--resume');
    expect(exit, stdout).toBe(0);
    expect(shown('A.txt')).toMatch(/^[0-9a-f-]{36}\n/);
    expect(kept()).toHaveLength(1);
    expect(runs()).toEqual([]);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import { createProject, simpleTask as task } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

let project: TestProject;
afterEach(() => project.remove());

/** Fails, and leaves what the user's own tools would run or judge; its outbox gets a program with the set-uid bit. */
const PLANT = [
  'mkdir -p test src',
  `echo 'require("node:fs").writeFileSync(process.env.HOME + "/ran", "")' | tee test/planted.test.js src/planted.spec.js`,
  'echo "const  x =1" > src/ugly.js',
].join('; ');

const inState = (...parts: string[]): string => project.inWorkers('login', '..', '..', ...parts);

/** Every file below the repository that a test runner or formatter would find, git's own folder aside. */
async function filesOfTools(): Promise<string[]> {
  const names = await readdir(project.folder, { recursive: true });
  return names.filter((name) => !name.startsWith('.git/') && /planted|ugly/.test(name));
}

/** As another user of this machine would see it. */
const asOtherUser = (file: string): string => {
  const args = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--', 'stat', '--format', '%a', file];
  const { stdout, stderr } = spawnSync('setpriv', args, { encoding: 'utf8' });
  return stdout.trim() === '' ? stderr.trim() : stdout.trim();
};

/** Only our own folder is closed to others, not the one of the tests. */
async function openTestFolder(): Promise<void> {
  for (const folder of [path.dirname(project.folder), project.env['HOME'] ?? '']) await chmod(folder, 0o755);
}

async function expectNothingKept(): Promise<void> {
  expect(await readdir(inState()).catch(() => [])).toEqual([]);
  expect(await filesOfTools()).toEqual([]);
  expect(project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
}

describe('what workers write', () => {
  it("is out of reach for the user's own tools during a run that fails, and gone after it", async () => {
    project = await createProject();
    await project.write('test/own.test.js', '');
    await project.config('retry: { attempts: 1 }\n');
    await project.graph('login', [
      task('A', {
        create: ['**'],
        run: `${PLANT}; touch $OUTSIDE/planted; until test -e $OUTSIDE/go; do sleep 0.05; done; exit 1`,
      }),
    ]);
    project.commit('specs');
    const live = project.start('kurukshetra');
    await waitUntil('the task has planted its files', async () => (await readdir(project.outside)).includes('planted'));
    expect(await filesOfTools()).toEqual([]);
    await writeFile(path.join(project.outside, 'go'), '');
    expect((await live.end).exit).toBe(1);

    await expectNothingKept();
    const run = spawnSync(process.execPath, ['--test'], { cwd: project.folder, env: project.env, encoding: 'utf8' });
    expect(run.stdout).toContain('# pass 1');
    expect(project.git('status', '--porcelain')).toBe('');
    expect(await readdir(project.env['HOME'] ?? '')).toEqual(['.gitconfig', '.local']);
    // Its work is not lost: the commit of the attempt is kept.
    expect(project.git('show', '--name-only', '--format=', 'refs/mahabharatha/login/A/1')).toContain('planted');
  });

  it('is below a folder that only its user can enter', async () => {
    project = await createProject();
    await openTestFolder();
    await mkdir(inState(), { recursive: true, mode: 0o777 });
    await chmod(inState(), 0o777);
    await project.graph('login', [
      task('A', {
        run: 'cp /bin/true ../outbox/su; chmod 4755 ../outbox/su; touch $OUTSIDE/planted; until test -e $OUTSIDE/go; do sleep 0.05; done; echo A > A.txt',
      }),
    ]);
    const live = project.start('kurukshetra');
    await waitUntil('it is planted', async () => (await readdir(project.outside)).includes('planted'));
    const planted = project.inWorkers('login', '0', 'outbox', 'su');
    expect((await stat(planted)).mode & 0o7777).toBe(0o4755);
    expect((await stat(inState())).mode & 0o777).toBe(0o700);
    if (process.getuid?.() === 0) expect(asOtherUser(planted)).toContain('Permission denied');
    await writeFile(path.join(project.outside, 'go'), '');
    expect((await live.end).exit).toBe(0);
    await expectNothingKept();
  });

  it('is not written where another user could put a folder in its place, nor in the repository', async () => {
    project = await createProject();
    await project.graph('login', [task('A')]);
    const refused = async (words: string): Promise<void> => {
      const run = await project.cli('kurukshetra');
      expect([run.exit, run.stderr]).toEqual([4, expect.stringContaining(words)]);
    };
    await mkdir(path.dirname(inState()), { recursive: true });
    await mkdir(path.join(project.outside, 'other'));
    await symlink(path.join(project.outside, 'other'), inState());
    // A link of the user's own is followed: what counts is where it leads.
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    expect(await readdir(path.join(project.outside, 'other'))).toEqual([]);
    await project.cli('cleanup', '--yes');
    await chmod(project.outside, 0o777);
    await refused('may be written by all users');
    await chmod(project.outside, 0o755);
    await project.config(`workers: { folder: "${project.folder}/build" }\n`);
    await refused('it is in the repository');
  });

  it('is in a folder of its own below the configured one, and a run stays where it began', async () => {
    project = await createProject();
    const folder = path.join(project.outside, 'big disk');
    await mkdir(folder);
    await project.config(`workers: { folder: "${folder}", lease: 2s }\n`);
    await project.graph('login', [
      task('A', { run: 'test -e $OUTSIDE/go || { touch $OUTSIDE/ready; sleep 60; }; echo A > A.txt' }),
    ]);
    const live = project.start('kurukshetra');
    await waitUntil('the task is at work', async () => (await readdir(project.outside)).includes('ready'));
    expect(await readdir(folder)).toEqual([`mahabharatha-${process.getuid?.()}`]);
    live.child.kill('SIGKILL');
    await live.end;
    await project.config('');
    await writeFile(path.join(project.outside, 'go'), '');
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect(await readdir(path.join(folder, `mahabharatha-${process.getuid?.()}`))).toEqual([]);
    await expectNothingKept();
  });

  it('is removed by "stop" and by "cleanup" when the orchestrator was killed', async () => {
    project = await createProject();
    await project.config('workers: { lease: 2s, copy: [".env"] }\n');
    await project.write('.env', 'SECRET=1\n');
    await project.graph('login', [task('A', { run: 'touch $OUTSIDE/ready; sleep 60' })]);
    const live = project.start('kurukshetra');
    await waitUntil('the task is at work', async () => (await readdir(project.outside)).includes('ready'));
    live.child.kill('SIGKILL');
    await live.end;
    expect((await project.cli('stop')).exit).toBe(0);
    const left = await readdir(inState(), { recursive: true });
    expect(left.filter((name) => /mahabharatha-worker|git|copies/.test(name))).toEqual([]);
    const clean = await project.cli('cleanup', '--yes');
    expect([clean.exit, clean.stderr]).toEqual([0, '']);
    await expectNothingKept();
  });

  it('of a repository that is gone is removed by a later start in any other, after a day', async () => {
    project = await createProject();
    await project.config('workers: { lease: 2s }\n');
    await project.graph('login', [task('A', { run: 'touch $OUTSIDE/ready; sleep 60' })]);
    const live = project.start('kurukshetra');
    await waitUntil('the task is at work', async () => (await readdir(project.outside)).includes('ready'));
    live.child.kill('SIGKILL');
    await live.end;
    await project.cli('stop');
    const elsewhere = `${project.folder}-moved`;
    await rename(project.folder, elsewhere);
    const other = project.at(elsewhere);
    await other.cli('cleanup', '--yes');
    await other.graph('search', [task('A')]);
    expect((await other.cli('kurukshetra', '--feature', 'search')).stdout).not.toContain('is gone');
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    for (const file of [project.inWorkers('login.json'), project.inWorkers('login', 'shared', 'lease.json')])
      await utimes(file, yesterday, yesterday);
    await other.cli('cleanup', '--feature', 'search', '--yes');
    expect(await readdir(inState())).toEqual([]);
  });

  it('of an earlier version, in the repository, is removed by "cleanup"', async () => {
    project = await createProject();
    await project.graph('login', [task('A')]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    const former = path.join(project.folder, '.mahabharatha', 'worktrees');
    execFileSync('git', ['worktree', 'add', '-q', '--lock', '--detach', path.join(former, 'login', 'worker-0')], {
      cwd: project.folder,
      env: project.env,
    });
    await project.write('.mahabharatha/worktrees/.gitignore', '*\n');
    await project.write('.mahabharatha/git/.gitignore', '*\n');
    await project.write('.mahabharatha/git/login/worker-0/HEAD', '');
    expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
    expect(await readdir(path.join(project.folder, '.mahabharatha'))).toEqual(['specs']);
    await expectNothingKept();
  });
});

describe.skipIf(docker.why !== '')(`what workers in containers write${whySkipped}`, () => {
  beforeAll(buildWorkerImage);

  it('cannot be reached by other users while they work, and is gone after a run that fails', async () => {
    project = await createContainerProject();
    await openTestFolder();
    await project.graph('login', [
      task('A', {
        create: ['**'],
        run: `${PLANT}; cp /bin/true /run/mahabharatha/outbox/su; chmod 4755 /run/mahabharatha/outbox/su; until test -e /run/mahabharatha/inbox/go; do sleep 0.05; done; exit 1`,
      }),
    ]);
    const live = project.start('kurukshetra', '--workers', '1');
    const planted = project.inWorkers('login', '0', 'outbox', 'su');
    await waitUntil('it is planted', async () => {
      if (live.child.exitCode !== null) throw new Error(live.output());
      return ((await stat(planted).catch(() => ({ mode: 0 }))).mode & 0o4000) !== 0;
    });
    if (process.getuid?.() === 0) expect(asOtherUser(planted)).toContain('Permission denied');
    expect(await filesOfTools()).toEqual([]);
    live.child.kill('SIGINT');
    expect((await live.end).exit).toBe(130);
    await expectNothingKept();
    expect(project.git('status', '--porcelain', '--', ':!.mahabharatha')).toBe('');
  });
});

import { execFileSync } from 'node:child_process';
import { chmod, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const INTEGRATION = 'mahabharatha/login/integration';
const ROOT = process.getuid?.() === 0;

/** What an agent may do with git on the way; it fails at the first that does not work. */
const BY_HAND = [
  'set -e',
  'git checkout -q -b idea',
  'echo 1 > one.txt',
  'test "$(git status --porcelain)" = "?? one.txt"',
  'git add one.txt; git commit -q -m one',
  'test "$(git log -1 --format="%an <%ae>")" = "Test User <user@example.org>"',
  'echo more >> README.md; git diff --stat | grep -q README.md; git stash -q; git stash pop -q; git checkout -q README.md',
  'echo 2 > two.txt; git add two.txt; git commit -q -m two',
].join('\n');

/** Moves the repository aside, and puts a working tree of one that borrows from it in its place. */
async function becomeBorrowingWorktree({ folder, git, commit }: ContainerProject): Promise<void> {
  git('tag', '--annotate', '--message=one', 'v1');
  commit('a second commit');
  const [origin, borrower] = [`${folder} of old`, `${folder} that borrows`];
  await rename(folder, origin);
  execFileSync('git', ['clone', '--quiet', '--shared', origin, borrower]);
  const objects = path.join(borrower, '.git', 'objects');
  const list = path.join(objects, 'info', 'alternates');
  await writeFile(list, `${path.relative(objects, path.join(origin, '.git', 'objects'))}\n`);
  execFileSync('git', ['-C', borrower, 'worktree', 'add', '--quiet', '--detach', folder]);
}

/** Straight into a pack: to write them one by one would take longer than the run. */
function commitManyFiles({ folder, git, env }: ContainerProject, count: number): void {
  const head = git('rev-parse', 'HEAD').trim();
  const commit = `commit refs/heads/main\ncommitter T <t@example.org> 1700000000 +0000\ndata 4\nmany\nfrom ${head}\n`;
  const files = Array.from({ length: count }, (_, number) => {
    const text = `number ${number}\n`;
    return `M 100644 inline src/${number % 200}/${Math.floor(number / 200)}.txt\ndata ${text.length}\n${text}\n`;
  });
  execFileSync('git', ['fast-import', '--quiet'], { cwd: folder, env, input: commit + files.join('') });
}

describe.skipIf(docker.why !== '')(`containers on repositories of every kind${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('work in a working tree with a detached HEAD and borrowed objects, in a long path with blanks and signs', async () => {
    const deep = Array.from({ length: 6 }, (_, number) => `level ${number} of a long "path", with: signs ü`);
    project = await createContainerProject({ name: path.join(...deep, 'my project') });
    await project.write('names/with "quotes"\nand lines', 'x\n');
    await becomeBorrowingWorktree(project);
    await project.graph('login', [
      { id: 'A', level: 1, create: ['one.txt', 'two.txt'], run: BY_HAND },
      { id: 'B', level: 2, create: ['b.txt'], run: 'git describe > b.txt; git fsck --connectivity-only' },
    ]);
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout + stderr).toBe(0);
    expect(project.git('show', `${INTEGRATION}:b.txt`)).toMatch(/^v1-\d+-g/);
    expect(project.git('rev-list', '--count', '--no-merges', `HEAD..${INTEGRATION}`)).toBe('2\n');
  });

  it('work in one with 20,000 files', async () => {
    project = await createContainerProject();
    commitManyFiles(project, 20_000);
    await project.graph('login', [
      { id: 'A', level: 1, create: ['a.txt'], run: 'find src -type f | wc -l > a.txt' },
      { id: 'B', level: 2, modify: ['src/7/7.txt'], run: 'cat a.txt > src/7/7.txt' },
    ]);
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout + stderr).toBe(0);
    expect(project.git('show', `${INTEGRATION}:src/7/7.txt`).trim()).toBe('20000');
  });

  it('work under a closed umask, while the repository is packed anew, and leave out what its user ignores everywhere', async () => {
    project = await createContainerProject();
    await project.write('../home/.config/git/ignore', '*.swp\n');
    await project.write(
      '../home/.gitconfig',
      '[user]\nname = Test User\nemail = user@example.org\n[core]\nautocrlf = true\n',
    );
    await project.write('run.sh', 'true\n');
    await project.write('.gitattributes', '*.bin filter=lfs\n');
    await project.write('large.bin', 'a pointer\n');
    await chmod(path.join(project.folder, 'run.sh'), 0o755);
    project.commit('more');
    await chmod(path.join(project.folder, '.git'), 0o700);
    const wait = 'until [ -e /objects/0/info/packed-now ]; do sleep 0.05; done';
    await project.graph('login', [
      {
        id: 'A',
        level: 1,
        create: ['a.txt'],
        run: `echo begun; ${wait}; git log --stat > /dev/null && touch .a.swp && echo a > a.txt`,
      },
      {
        id: 'B',
        level: 2,
        create: ['b.txt'],
        run: 'test -x run.sh && cat a.txt > b.txt && grep -q "$(printf "\\\\r")" README.md',
      },
    ]);
    const before = process.umask(0o077);
    const live = project.start('kurukshetra', '--workers', '1');
    process.umask(before);
    await waitUntil('the task has begun', async () => (await project.cli('logs', '0')).stdout.includes('begun'));
    project.git('gc', '--quiet', '--prune=now');
    await writeFile(path.join(project.folder, '.git', 'objects', 'info', 'packed-now'), '');
    const { exit, stdout, stderr } = await live.end;
    expect(exit, stdout + stderr).toBe(0);
    expect(project.git('diff', '--name-only', 'main', INTEGRATION)).toBe('a.txt\nb.txt\n');
    expect(stderr).toContain('note: 1 file goes through the git filter "lfs", which containers do not have');
  });

  it.skipIf(!ROOT)(
    'say before the start when its objects are closed to workers; mode auto does not do without containers either',
    async () => {
      project = await createContainerProject();
      await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'echo a > a.txt' }]);
      await chmod(path.join(project.folder, '.git', 'objects'), 0o700);
      for (const more of [[], ['--mode', 'auto']]) {
        const { exit, stderr } = await project.cli('kurukshetra', ...more);
        expect(exit).toBe(4);
        expect(stderr).toMatch(/workers run as user \d+, who may not read .*objects; .*chmod -R a\+rX/);
      }
    },
  );
});

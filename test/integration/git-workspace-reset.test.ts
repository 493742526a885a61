import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository, openWorkspace } from '../../src/git/index.ts';
import type { Workspace } from '../../src/git/index.ts';
import { fingerprint, tempRepository, writeFile } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

const BRANCH = 'mahabharatha/x/worker-0';

interface Bench {
  readonly temp: TempRepository;
  readonly workspace: Workspace;
  readonly folder: string;
  readonly base: string;
  /** Runs git in the worktree, as a task would. */
  git(...args: readonly string[]): string;
  /** Writes a file in the worktree, as a task would. */
  write(file: string, text: string): void;
  reset(options?: { ignoredToo?: boolean; keep?: readonly string[] }): Promise<void>;
}

async function openBench(): Promise<Bench> {
  const temp = tempRepository();
  const base = temp.commit({ 'src/a.txt': '1\n2\n3\n', 'src/b.txt': 'b\n', '.gitignore': 'node_modules/\n*.log\n' });
  const repository = await openRepository(temp.folder, temp.env);
  const folder = path.join(temp.folder, '.mahabharatha', 'worktrees', 'x', 'worker 0');
  await repository.addWorktree({ folder, branch: BRANCH, base });
  const workspace = await openWorkspace(folder, temp.env);
  return {
    temp,
    workspace,
    folder,
    base,
    git: (...args) => temp.gitIn(folder, ...args),
    write: (file, text) => writeFile(path.join(folder, file), text),
    reset: ({ ignoredToo = false, keep = [] } = {}) => workspace.reset({ base, branch: BRANCH, ignoredToo, keep }),
  };
}

const withoutGit = (file: string): boolean => file === '.git';
const notTheUsers = (file: string): boolean => file.startsWith('.git') || file.startsWith('.mahabharatha');

/** The worktree is like a fresh checkout of the base: same files, same branch, no changes. */
function expectFresh({ temp, folder, base, git }: Bench): void {
  const fresh = path.join(path.dirname(temp.folder), 'fresh');
  temp.git('worktree', 'add', '--quiet', '--force', '--detach', fresh, base);
  expect(fingerprint(folder, withoutGit)).toEqual(fingerprint(fresh, withoutGit));
  expect(git('status', '--porcelain=v2', '--branch').split('\n')).toEqual([
    `# branch.oid ${base}`,
    `# branch.head ${BRANCH}`,
  ]);
  expect(git('status')).not.toMatch(/in progress|rebas|bisect|merging|cherry/i);
}

/** A git command of a task that is expected to stop halfway. */
function tryGit({ folder, temp }: Bench, ...args: readonly string[]): void {
  expect(spawnSync('git', args, { cwd: folder, env: temp.env }).status).not.toBe(0);
}

/** Two commits that cannot be joined; the worktree is on the second. */
function quarrel({ git, write, base }: Bench): void {
  git('switch', '--quiet', '--create', 'quarrel', base);
  write('src/a.txt', 'theirs\n');
  git('commit', '--quiet', '--all', '--message', 'Theirs');
  git('switch', '--quiet', '--create', 'other', base);
  write('src/a.txt', 'ours\n');
  git('commit', '--quiet', '--all', '--message', 'Ours');
}

const TRACES: readonly [string, (bench: Bench) => void][] = [
  ['nothing at all', () => undefined],
  [
    'changed, deleted and staged files',
    ({ write, git, folder }) => {
      write('src/a.txt', 'changed\n');
      rmSync(path.join(folder, 'src/b.txt'));
      write('new.txt', 'new\n');
      git('add', '--all');
      write('src/a.txt', 'changed again\n');
    },
  ],
  [
    'untracked files and folders, also empty ones',
    ({ write, folder }) => {
      write('scratch/ü/notes.txt', 'notes\n');
      mkdirSync(path.join(folder, 'empty/folder'), { recursive: true });
    },
  ],
  [
    'a file where a folder was, and a link where a file was',
    ({ write, folder }) => {
      rmSync(path.join(folder, 'src'), { recursive: true });
      write('src', 'a file now\n');
      rmSync(path.join(folder, 'README.md'));
      symlinkSync('/etc/passwd', path.join(folder, 'README.md'));
    },
  ],
  [
    'a git repository of its own',
    ({ git, write, folder }) => {
      git('init', '--quiet', 'nested');
      write('nested/file.txt', 'x\n');
      execFileSync('git', ['-C', 'nested', 'add', '.'], { cwd: folder });
    },
  ],
  ['files that an ignore rule of its own covers', ({ write }) => write('.gitignore', 'hidden\n')],
  [
    'a half-done merge',
    (bench) => {
      quarrel(bench);
      tryGit(bench, 'merge', 'quarrel');
    },
  ],
  [
    'a half-done rebase',
    (bench) => {
      quarrel(bench);
      tryGit(bench, 'rebase', 'quarrel');
    },
  ],
  [
    'a half-done rebase of patches',
    (bench) => {
      quarrel(bench);
      tryGit(bench, 'rebase', '--apply', 'quarrel');
    },
  ],
  [
    'a half-done cherry-pick of several commits',
    (bench) => {
      quarrel(bench);
      tryGit(bench, 'cherry-pick', bench.base, 'quarrel');
    },
  ],
  [
    'a half-done revert',
    (bench) => {
      quarrel(bench);
      bench.write('src/a.txt', 'third\n');
      bench.git('commit', '--quiet', '--all', '--message', 'Third');
      tryGit(bench, 'revert', '--no-edit', 'HEAD~1');
    },
  ],
  ['a bisect', ({ git }) => void git('bisect', 'start', 'HEAD', 'HEAD~1')],
  [
    'the locks of a git that was killed',
    ({ git, temp }) => {
      const own = git('rev-parse', '--absolute-git-dir');
      for (const name of ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock']) writeFileSync(path.join(own, name), '');
      writeFileSync(path.join(temp.folder, '.git', 'refs', 'heads', `${BRANCH}.lock`), '');
    },
  ],
  ['another branch', ({ git }) => void git('switch', '--quiet', '--create', 'my-own')],
  ['a detached HEAD', ({ git }) => void git('switch', '--quiet', '--detach', 'HEAD~1')],
  ['an orphan branch', ({ git }) => void git('switch', '--quiet', '--orphan', 'empty')],
  [
    'a deleted branch',
    ({ git }) => {
      git('switch', '--quiet', '--detach');
      git('branch', '--quiet', '-D', BRANCH);
    },
  ],
  [
    'commits of its own',
    ({ git, write }) => {
      write('new.txt', 'new\n');
      git('add', '--all');
      git('commit', '--quiet', '--message', 'By the task itself');
    },
  ],
  ['no .git file', ({ folder }) => rmSync(path.join(folder, '.git'))],
  [
    'a .git directory of its own',
    ({ folder, git }) => {
      rmSync(path.join(folder, '.git'));
      git('init', '--quiet');
      git('add', '--all');
      git('commit', '--quiet', '--message', 'A history of its own');
    },
  ],
  ['a .git file that points elsewhere', ({ write }) => write('.git', 'gitdir: /somewhere/else\n')],
  [
    'nothing: the folder is empty',
    ({ folder }) => {
      for (const name of ['.git', '.gitignore', 'src', 'README.md']) {
        rmSync(path.join(folder, name), { recursive: true });
      }
    },
  ],
  ['no folder', ({ folder }) => rmSync(folder, { recursive: true })],
  ['a broken index', ({ git }) => writeFileSync(path.join(git('rev-parse', '--absolute-git-dir'), 'index'), 'broken')],
  [
    'files that are marked as unchanged in the index',
    ({ git, write }) => {
      git('update-index', '--assume-unchanged', 'src/a.txt');
      git('update-index', '--skip-worktree', 'src/b.txt');
      write('src/a.txt', 'hidden change\n');
      write('src/b.txt', 'hidden change\n');
    },
  ],
];

describe('resetting a workspace makes it exactly the base', () => {
  it.each(TRACES)('after a task that left %s', async (_, leave) => {
    const bench = await openBench();
    leave(bench);
    await bench.reset();
    expectFresh(bench);
  });

  it('also on another base', async () => {
    const { temp, workspace, folder, git } = await openBench();
    const base = temp.commit({ 'src/a.txt': 'next level\n', 'src/c.txt': 'c\n' });
    await workspace.reset({ base, branch: BRANCH, ignoredToo: false, keep: [] });
    expect(readFileSync(path.join(folder, 'src/a.txt'), 'utf8')).toBe('next level\n');
    expect(git('status', '--porcelain')).toBe('');
    expect(git('rev-parse', BRANCH)).toBe(base);
  });

  it("without reading the user's own checkout", async () => {
    const bench = await openBench();
    bench.temp.write('src/a.txt', 'the user is at work\n');
    const before = [
      fingerprint(bench.temp.folder, notTheUsers),
      bench.temp.git('status', '--porcelain=v2', '--branch'),
    ];
    bench.write('junk.txt', 'junk\n');
    await bench.reset({ ignoredToo: true });
    expect([
      fingerprint(bench.temp.folder, notTheUsers),
      bench.temp.git('status', '--porcelain=v2', '--branch'),
    ]).toEqual(before);
  });
});

describe('what a reset keeps', () => {
  it('is the ignored files, unless these are to be removed too', async () => {
    const bench = await openBench();
    bench.write('node_modules/left-pad/index.js', 'x');
    bench.write('build.log', 'x');
    await bench.reset();
    expect(existsSync(path.join(bench.folder, 'node_modules/left-pad/index.js'))).toBe(true);
    expect(existsSync(path.join(bench.folder, 'build.log'))).toBe(true);
    await bench.reset({ ignoredToo: true });
    expectFresh(bench);
  });

  it('is the named paths, literally and from the top only', async () => {
    const bench = await openBench();
    const kept = ['tool.cfg', 'sub/[a]*.txt', '#notes', '!bang', 'cache/deep/file', 'end '];
    const gone = ['sub/tool.cfg', 'sub/a1.txt', 'other.cfg'];
    for (const file of [...kept, ...gone]) bench.write(file, 'x');
    await bench.reset({ keep: ['tool.cfg', 'sub/[a]*.txt', '#notes', '!bang', 'cache/', 'end '] });
    for (const file of kept) expect(existsSync(path.join(bench.folder, file)), file).toBe(true);
    for (const file of gone) expect(existsSync(path.join(bench.folder, file)), file).toBe(false);
  });
});

/** A commit after the base: it changes a file, removes one and adds one. */
const next = ({ temp, git, write }: Bench): string => {
  write('src/a.txt', 'changed\n');
  write('new/c.txt', 'c\n');
  git('rm', '--quiet', 'src/b.txt');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Next');
  return temp.gitIn(path.join(temp.folder), 'rev-parse', BRANCH).trim();
};

describe('a worktree in which only git has run', () => {
  it('is moved to another commit by what differs, and is as if that had been checked out', async () => {
    const bench = await openBench();
    const { workspace, base: from } = bench;
    const to = next(bench);
    await workspace.reset({ base: from, branch: BRANCH, ignoredToo: true, keep: [] });
    expectFresh(bench);
    await workspace.moveTo({ from, to, branch: BRANCH });
    bench.temp.git('worktree', 'remove', '--force', path.join(path.dirname(bench.temp.folder), 'fresh'));
    expectFresh({ ...bench, base: to });
  });

  it('is not moved over a file that is in the way', async () => {
    const bench = await openBench();
    const { workspace, base: from } = bench;
    const to = next(bench);
    await workspace.reset({ base: from, branch: BRANCH, ignoredToo: true, keep: [] });
    bench.write('new/c.txt', 'of a set-up\n');
    await expect(workspace.moveTo({ from, to, branch: BRANCH })).rejects.toThrow();
  });
});

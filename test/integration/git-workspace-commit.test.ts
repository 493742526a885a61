import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isVanished, openRepository, openWorkspace } from '../../src/git/index.ts';
import type { Repository, Workspace } from '../../src/git/index.ts';
import { tempRepository, writeFile } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

const BRANCH = 'mahabharatha/x/worker-0';
const NOTHING_LEFT = { paths: [], files: new Set<string>() };

interface Bench {
  readonly temp: TempRepository;
  readonly repository: Repository;
  readonly workspace: Workspace;
  readonly folder: string;
  readonly base: string;
  git(...args: readonly string[]): string;
  write(file: string, text: string): void;
  /** Stages and commits; returns the commit and the paths that it changes. */
  commit(except?: readonly string[]): Promise<{ commit: string; changed: string[] }>;
}

async function openBench(files: Readonly<Record<string, string>> = {}): Promise<Bench> {
  const temp = tempRepository();
  const base = temp.commit({ 'src/a.txt': 'a\n', '.gitignore': '*.log\n', ...files });
  const repository = await openRepository(temp.folder, temp.env);
  const folder = path.join(temp.folder, '.mahabharatha', 'worker 0');
  await repository.addWorktree({ folder, branch: BRANCH, base });
  const workspace = await openWorkspace(folder, temp.env);
  await workspace.reset({ base, branch: BRANCH, ignoredToo: false, keep: [] });
  return {
    temp,
    repository,
    workspace,
    folder,
    base,
    git: (...args) => temp.gitIn(folder, ...args),
    write: (file, text) => writeFile(path.join(folder, file), text),
    commit: async (except = []) => {
      const tree = await workspace.stage({
        base,
        branch: BRANCH,
        left: { paths: except, files: new Set(except) },
        owned: () => [],
      });
      const commit = await workspace.commit({ base, tree, message: 'T-1: do it\n\nBy an agent.', branch: BRANCH });
      return { commit, changed: [...((await repository.commitFacts(commit))?.changed ?? [])].toSorted() };
    },
  };
}

describe('staging a workspace', () => {
  it('takes what is new, changed, deleted, renamed, made executable and linked', async () => {
    const bench = await openBench({ 'gone.txt': 'x\n', 'run.sh': 'true\n' });
    bench.write('new ü/日本.txt', 'new\n');
    bench.write('src/a.txt', 'changed\n');
    rmSync(path.join(bench.folder, 'gone.txt'));
    chmodSync(path.join(bench.folder, 'run.sh'), 0o755);
    symlinkSync('/nowhere', path.join(bench.folder, 'link'));
    const { commit, changed } = await bench.commit();
    expect(changed).toEqual(['gone.txt', 'link', 'new ü/日本.txt', 'run.sh', 'src/a.txt']);
    expect(
      bench
        .git('ls-tree', commit, 'run.sh', 'link')
        .replaceAll(/ blob \w+\t/g, ' ')
        .split('\n'),
    ).toEqual(['120000 link', '100755 run.sh']);
  });

  it('takes neither ignored files nor those that are left out by their literal name', async () => {
    const bench = await openBench();
    for (const file of ['build.log', 'tool.cfg', 'sub/tool.cfg', 'cache/deep/file', '*', 'star', ':odd']) {
      bench.write(file, 'x');
    }
    const { changed } = await bench.commit(['tool.cfg', 'cache/', '*', ':odd']);
    expect(changed).toEqual(['star', 'sub/tool.cfg']);
  });

  it('takes what the task has committed or staged', async () => {
    const bench = await openBench();
    bench.write('one.txt', '1');
    bench.git('add', '.');
    bench.git('commit', '--quiet', '--message', 'By the task');
    bench.git('switch', '--quiet', '--create', 'own-branch');
    bench.write('two.txt', '2');
    bench.git('add', '.');
    bench.write('three.txt', '3');
    expect((await bench.commit()).changed).toEqual(['one.txt', 'three.txt', 'two.txt']);
  });

  it('is the tree of the base when nothing was changed', async () => {
    const { workspace, base, folder } = await openBench();
    mkdirSync(path.join(folder, 'empty'));
    expect(await workspace.stage({ base, branch: BRANCH, left: NOTHING_LEFT, owned: () => [] })).toBe(
      await workspace.treeOf(base),
    );
  });

  it('works when the task has removed .git', async () => {
    const bench = await openBench();
    bench.write('new.txt', 'new\n');
    rmSync(path.join(bench.folder, '.git'));
    expect((await bench.commit()).changed).toEqual(['new.txt']);
  });
});

describe('committing a workspace', () => {
  it('makes exactly one commit on the base, whatever the task committed, in our name', async () => {
    const bench = await openBench();
    for (const file of ['one.txt', 'two.txt']) {
      bench.write(file, 'x');
      bench.git('add', '.');
      bench.git('commit', '--quiet', '--message', file);
    }
    const { commit } = await bench.commit();
    expect((await bench.repository.commitFacts(commit))?.parents).toEqual([bench.base]);
    expect(await bench.repository.resolve(BRANCH)).toBe(commit);
    expect(bench.git('log', '-1', '--format=%an <%ae>|%cn <%ce>|%B', commit)).toBe(
      'Mahabharatha <mahabharatha@localhost>|Mahabharatha <mahabharatha@localhost>|T-1: do it\n\nBy an agent.',
    );
    expect(bench.git('status', '--porcelain')).toBe('');
  });

  it("works without a name in the user's configuration, and does not change any configuration", async () => {
    const bench = await openBench();
    const files = [path.join(bench.temp.folder, '.git', 'config'), bench.temp.env['GIT_CONFIG_GLOBAL'] ?? ''];
    writeFile(files[1] ?? '', '[commit]\n\tgpgSign = true\n[user]\n\tuseConfigOnly = true\n');
    const before = files.map((file) => readFileSync(file, 'utf8'));
    bench.write('new.txt', 'new\n');
    const { commit } = await bench.commit();
    expect(bench.git('log', '-1', '--format=%an %G?', commit)).toBe('Mahabharatha N');
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
  });

  it("runs neither the user's hooks nor hooks that the task has written", async () => {
    const bench = await openBench();
    const marker = path.join(path.dirname(bench.temp.folder), 'a hook ran');
    for (const hook of ['pre-commit', 'post-commit', 'commit-msg', 'reference-transaction', 'post-index-change']) {
      const file = path.join(bench.folder, 'hooks', hook);
      writeFile(file, `#!/bin/sh\ntouch "${marker}"\n`);
      chmodSync(file, 0o755);
    }
    bench.git('config', 'core.hooksPath', path.join(bench.folder, 'hooks'));
    await bench.commit();
    await bench.workspace.reset({ base: bench.base, branch: BRANCH, ignoredToo: true, keep: [] });
    expect(() => readFileSync(marker)).toThrow('ENOENT');
  });
});

describe('staging except what a set-up has left', () => {
  it('takes owned files in a folder that is left out, and nothing else of it', async () => {
    const bench = await openBench();
    for (const file of ['gen/.stamp', 'gen/known.txt', 'local.cfg']) bench.write(file, 'set-up\n');
    const leftovers = await bench.workspace.leftovers();
    for (const file of ['a.txt', 'gen/[out].txt', 'gen/deep/b.txt', 'gen/junk', 'gen/x.log'])
      bench.write(file, 'task\n');

    const tree = await bench.workspace.stage({
      base: bench.base,
      branch: BRANCH,
      left: leftovers,
      owned: (files) => files.filter((file) => !file.endsWith('junk')),
    });

    const files = bench.git('diff-tree', '-r', '--name-only', `${bench.base}^{tree}`, tree).split('\n');
    expect(files).toEqual(['a.txt', 'gen/[out].txt', 'gen/deep/b.txt']);
  });

  it('counts a folder of 30,000 files that no rule ignores as one', async () => {
    const bench = await openBench();
    for (let n = 0; n < 30_000; n += 1) bench.write(`node_modules/p${n % 300}/f${n}.js`, 'x');
    const leftovers = await bench.workspace.leftovers();
    expect(leftovers.paths).toEqual(['node_modules/']);
    bench.write('a.txt', 'a\n');

    const tree = await bench.workspace.stage({
      base: bench.base,
      branch: BRANCH,
      left: leftovers,
      owned: (files) => files,
    });

    expect(bench.git('diff-tree', '-r', '--name-only', `${bench.base}^{tree}`, tree)).toBe('a.txt');
  });

  it('adds all files again when objects of the index were pruned', async () => {
    const bench = await openBench();
    bench.write('new.txt', 'new\n');
    // Git does not read a file again that is older than the index.
    utimesSync(path.join(bench.folder, 'new.txt'), 1, 1);
    bench.git('add', 'new.txt');
    const blob = bench.git('rev-parse', ':new.txt').trim();
    rmSync(path.join(bench.temp.folder, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    const request = { base: bench.base, branch: BRANCH, left: NOTHING_LEFT, owned: () => [] };
    const pruned = await bench.workspace.stage(request).catch((error: unknown) => error);
    expect(isVanished(pruned)).toBe(true);
    const tree = await bench.workspace.stage({ ...request, afresh: true });
    expect(bench.git('ls-tree', '--name-only', tree).split('\n')).toContain('new.txt');
    expect(bench.git('cat-file', '-t', blob)).toBe('blob');
  });

  it('names files that exist but were not staged', async () => {
    const bench = await openBench();
    for (const file of ['a.txt', 'b*.txt', 'x.log', 'deep/[y].log']) bench.write(file, 'x');
    mkdirSync(path.join(bench.folder, 'empty'));
    const tree = await bench.workspace.stage({ base: bench.base, branch: BRANCH, left: NOTHING_LEFT, owned: () => [] });
    const asked = ['a.txt', './b*.txt', 'x.log', 'deep/[y].log', 'nowhere.txt', 'empty', '**/*.log', 'src'];
    expect(await bench.workspace.leftOut(tree, asked)).toEqual(['x.log', 'deep/[y].log']);
  });
});

describe('the files of a workspace', () => {
  it('are listed when they are untracked and no rule ignores them, a folder as one', async () => {
    const { workspace, write, folder } = await openBench();
    expect((await workspace.leftovers()).paths).toEqual([]);
    for (const file of ['a ü.txt', 'made/by/setup.txt', 'made/too.txt', 'src/b.txt', 'x.log']) write(file, 'x');
    mkdirSync(path.join(folder, 'empty'));
    const { paths, files } = await workspace.leftovers();
    expect(paths.toSorted()).toEqual(['a ü.txt', 'made/', 'src/b.txt']);
    expect([...files].toSorted()).toEqual(['a ü.txt', 'made/by/setup.txt', 'made/too.txt', 'src/b.txt']);
  });

  it('change the signature only when they are lock files, in any folder', async () => {
    const { workspace, base, write } = await openBench({ 'package-lock.json': '1', 'packages/a/Cargo.lock': '1' });
    const signatures: string[] = [];
    const sign = async (file: string, text: string): Promise<void> => {
      write(file, text);
      await workspace.stage({ base, branch: BRANCH, left: NOTHING_LEFT, owned: () => [] });
      signatures.push(await workspace.lockSignature());
    };
    await sign('src/a.txt', 'changed\n');
    await sign('package.json', '{}');
    await sign('docs/package-lock.json.md', 'x');
    expect(new Set(signatures).size).toBe(1);
    await sign('package-lock.json', '2');
    await sign('packages/a/Cargo.lock', '2');
    await sign('requirements-dev.txt', 'x');
    await sign('deep/down/go.sum', 'x');
    expect(new Set(signatures).size).toBe(5);
  });

  it('change the signature when they name packages, where there is no lock file', async () => {
    const { workspace, base, write } = await openBench({ 'package.json': '{}', 'src/a.txt': 'a' });
    const sign = async (file: string, text: string): Promise<string> => {
      write(file, text);
      await workspace.stage({ base, branch: BRANCH, left: NOTHING_LEFT, owned: () => [] });
      return workspace.lockSignature();
    };
    const first = await sign('src/a.txt', 'changed\n');
    const second = await sign('packages/a/pyproject.toml', '[project]');
    const third = await sign('package.json', '{ "name": "x" }');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await sign('src/a.txt', 'changed again\n')).toBe(third);
  });
});

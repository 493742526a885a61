import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { mergeInto, openRepository } from '../../src/git/index.ts';
import { clashes } from '../../src/git/ignored-files.ts';
import type { AppError } from '../../src/lib/index.ts';
import { fingerprint, tempRepository, writeFile } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

let temp: TempRepository;

/** A feature that changes two files of main and adds two. */
beforeEach(() => {
  temp = tempRepository();
  temp.commit({
    'one.txt': '1\n',
    'two.txt': '2\n',
    'other.txt': 'o\n',
    '.gitignore': 'ignored*\nsecrets\n*.env\ncache\n',
  });
  temp.git('checkout', '--quiet', '-b', 'feature');
  temp.commit({ 'one.txt': 'one\n', 'two.txt': 'two\n', 'new/a.txt': 'a\n' });
  stage('ignored.txt', 'i\n');
  temp.commit({ 'b.txt': 'b\n' });
  temp.git('checkout', '--quiet', 'main');
});

/** Writes a file as the user and stages it. */
function stage(file: string, text: string): void {
  temp.write(file, text);
  temp.git('add', '--force', '--', file);
}

const messageOf = (commit: string): string => `Merge ${commit}`;

async function ask(dryRun: boolean, squash = false, env = temp.env): Promise<string> {
  const repository = await openRepository(temp.folder, env);
  const wish = { from: 'feature', into: 'main', message: messageOf, squash, dryRun, env };
  return mergeInto(repository, wish).then(
    ({ kind }) => kind,
    ({ code, message }: AppError) => `${code}: ${message}`,
  );
}

/** Git may write objects for merges that were not made: they are left out. */
const seen = (): unknown => fingerprint(temp.folder, (file) => file.startsWith('.git/objects'));

describe('a dry run of a merge', () => {
  it.each<[string, () => void, readonly string[]]>([
    ['changed files', () => [temp.write('one.txt', 'mine\n'), temp.write('two.txt', 'mine\n')], ['one.txt', 'two.txt']],
    ['staged files', () => stage('one.txt', 'mine\n'), ['one.txt']],
    [
      'files that git does not know',
      () => [temp.write('b.txt', 'mine\n'), temp.write('new/a.txt', 'x')],
      ['b.txt', 'new/a.txt'],
    ],
    ['a file where a folder would be', () => temp.write('new', 'mine\n'), ['new']],
    ['a folder where a file would be', () => temp.write('b.txt/mine.txt', 'mine\n'), ['b.txt/mine.txt']],
    ['an unfinished merge', () => temp.git('update-ref', 'MERGE_HEAD', temp.git('rev-parse', 'HEAD')), ['MERGE_HEAD']],
    [
      'a working tree that is gone',
      () => {
        temp.git('worktree', 'add', '--quiet', '--force', '-B', 'elsewhere', path.join(temp.folder, '../gone'));
        temp.git('checkout', '--quiet', 'elsewhere', '--ignore-other-worktrees');
        temp.git('-C', '../gone', 'checkout', '--quiet', 'main');
        rmSync(path.join(temp.folder, '../gone'), { recursive: true });
      },
      ['there is no such folder'],
    ],
  ])('is refused, as the merge is, by %s', async (_, prepare, names) => {
    prepare();
    temp.write('other.txt', 'mine, and no obstacle\n');
    const before = seen();
    const said = await ask(true);
    expect(await ask(true, true)).toBe(said);
    expect(seen()).toEqual(before);
    for (const name of names) expect(said).toContain(name);
    expect(said).toMatch(/^MERGE_DIRTY: main is checked out in .* Nothing was changed\.$/);
    expect(said).not.toContain('other.txt');
    for (const squash of [false, true]) expect(await ask(false, squash)).toBe(said);
  });

  it.each<[string, () => void]>([
    ['changes elsewhere', () => [temp.write('other.txt', 'mine\n'), stage('own.txt', 'mine\n')]],
    ['files that were only touched', () => utimesSync(path.join(temp.folder, 'one.txt'), 1, 1)],
    ['files that were removed and not staged', () => rmSync(path.join(temp.folder, 'one.txt'))],
    ['files that are staged with the content of the merge', () => stage('one.txt', 'one\n')],
    ['ignored files that the merge does not write', () => temp.write('ignored-too.txt', 'mine\n')],
  ])('allows, as the merge does, %s', async (_, prepare) => {
    prepare();
    const before = seen();
    expect(await ask(true)).toBe('would-merge');
    expect(seen()).toEqual(before);
    expect(await ask(false)).toBe('merged');
  });
});

const ENV = 'KEY=mine\n';
const fileOf = (id: string): { kind: 'file'; id: string } => ({ kind: 'file', id });

describe('ignored files that a merge would overwrite', () => {
  /** The files of the feature, what the user has, and the names that are reported. */
  it.each<[string, readonly string[], () => void, readonly string[]]>([
    ['a file', ['.env'], () => temp.write('.env', ENV), ['.env']],
    ['a file in a folder', ['app/prod.env'], () => temp.write('app/prod.env', ENV), ['app/prod.env']],
    [
      'a folder where a file would be',
      ['secrets'],
      () => [temp.write('secrets/a.key', ENV), temp.write('secrets/b/c.key', ENV)],
      ['secrets/a.key', 'secrets/b/c.key'],
    ],
    ['a file where a folder would be', ['secrets/a/b.txt'], () => temp.write('secrets', ENV), ['secrets']],
    [
      'a link where a folder would be',
      ['cache/x.txt'],
      () => [temp.write('../elsewhere/x.txt', ENV), symlinkSync('../elsewhere', path.join(temp.folder, 'cache'))],
      ['cache'],
    ],
    [
      'a repository of its own where a file would be',
      ['secrets'],
      () => [temp.write('secrets/own/a.txt', ENV), temp.git('init', '--quiet', 'secrets/own')],
      ['secrets/own/'],
    ],
  ])('are named and stay as they are, and the branch is not moved: %s', async (_, brought, prepare, names) => {
    temp.git('checkout', '--quiet', 'feature');
    for (const file of brought) stage(file, 'theirs\n');
    temp.git('commit', '--quiet', '--message', 'more');
    temp.git('checkout', '--quiet', 'main');
    prepare();
    const before = seen();
    for (const [dryRun, squash] of [
      [true, false],
      [true, true],
      [false, false],
      [false, true],
    ] as const) {
      const said = await ask(dryRun, squash);
      expect(said).toMatch(
        /^MERGE_OVER_IGNORED: The merge into main would overwrite \d+ files? in .* Nothing was changed\.$/,
      );
      for (const name of names) expect(said).toContain(name);
      expect(said).toContain(`overwrite ${names.length} `);
      expect(seen()).toEqual(before);
    }
  });

  it('are named in another working tree too, where the branch is checked out', async () => {
    const other = path.join(temp.folder, '../other');
    temp.git('checkout', '--quiet', '--detach');
    temp.git('worktree', 'add', '--quiet', other, 'main');
    writeFile(path.join(other, 'ignored.txt'), ENV);
    for (const dryRun of [true, false])
      expect(await ask(dryRun)).toMatch(/^MERGE_OVER_IGNORED: .*other.*: ignored\.txt\. /);
    expect(readFileSync(path.join(other, 'ignored.txt'), 'utf8')).toBe(ENV);
  });

  it('are counted, and the first of them named, when there are many', async () => {
    temp.git('checkout', '--quiet', 'feature');
    for (let index = 0; index < 40; index += 1) stage(`ignored-${index}`, 'theirs\n');
    temp.git('commit', '--quiet', '--message', 'more');
    temp.git('checkout', '--quiet', 'main');
    for (let index = 0; index < 40; index += 1) temp.write(`ignored-${index}`, 'mine\n');
    expect(await ask(false)).toMatch(/overwrite 40 files in .*ignored-0, .* and 10 more\. Nothing was changed/);
  });

  it('are not reported when git tracks the same file under another spelling', () => {
    const found = new Map([
      ['README.md', fileOf('1')],
      ['readme.md', fileOf('1')],
      ['Secrets.env', fileOf('2')],
      ['a.txt', fileOf('3')],
      ['A.txt', fileOf('4')],
    ]);
    expect(clashes(['README.md', 'Secrets.env', 'A.txt'], ['readme.md', 'a.txt'], found)).toEqual({
      files: ['Secrets.env', 'A.txt'],
      folders: [],
    });
  });

  it('are no obstacle for a file that replaces a tracked folder', async () => {
    temp.commit({ 'one/x.txt': 'x\n' });
    temp.git('checkout', '--quiet', '-B', 'feature');
    temp.git('rm', '--quiet', '-r', 'one');
    temp.commit({ one: 'a file\n' });
    temp.git('checkout', '--quiet', 'main');
    expect(await ask(true)).toBe('would-merge');
    expect(await ask(false)).toBe('merged');
  });
});

const parents = (): string[] => temp.git('show', '--no-patch', '--format=%P', 'main').split(' ');

describe('a merge', () => {
  it('has a commit of its own, though main could be moved along', async () => {
    const [main, feature] = ['main', 'feature'].map((branch) => temp.git('rev-parse', branch));
    expect(await ask(false)).toBe('merged');
    expect(parents()).toEqual([main, feature]);
  });

  it('that is squashed is one commit on main with the files of the feature, and not made twice', async () => {
    temp.commit({ 'mine.txt': 'mine\n' });
    const [main, feature] = ['main', 'feature'].map((branch) => temp.git('rev-parse', branch));
    expect(await ask(true, true)).toBe('would-merge');
    expect(temp.git('rev-parse', 'main')).toBe(main);
    expect(await ask(false, true)).toBe('merged');
    expect(parents()).toEqual([main]);
    expect(temp.git('show', '--no-patch', '--format=%an %s', 'main')).toBe(`A User Merge ${feature}`);
    expect(temp.git('diff', '--name-only', 'main', 'feature')).toBe('mine.txt');
    expect(temp.git('status', '--porcelain')).toBe('');
    expect(await ask(false, true)).toBe('already-in');
    expect(temp.git('rev-list', '--count', `${main}..main`)).toBe('1');
  });

  it('that is squashed is refused, like any other, when both have changed a file', async () => {
    temp.commit({ 'one.txt': 'another\n' });
    const before = seen();
    expect(await ask(false, true)).toMatch(/^MERGE_CONFLICT: feature and main both changed 1 file: one\.txt/);
    expect(seen()).toEqual(before);
  });
});

/** In the working tree, `git switch -c fix` is done just before the first git command with these words. */
function switchesBefore(words: string): TempRepository['env'] {
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const bin = path.join(temp.folder, '../bin');
  const change = `case "$*" in *'${words}'*) '${git}' switch --quiet -c fix 2> /dev/null;; esac`;
  writeFile(path.join(bin, 'git'), `#!/bin/bash\n${change}\nexec '${git}' "$@"\n`);
  chmodSync(path.join(bin, 'git'), 0o755);
  return { ...temp.env, PATH: `${bin}:${temp.env['PATH']}` };
}

const tips = (): string[] => ['main', 'fix'].map((branch) => temp.git('rev-parse', branch));

describe('a merge while the user switches branches', () => {
  it.each([true, false])(
    'is refused, and moves nothing, when main is not checked out any more (dry run: %s)',
    async (dryRun) => {
      const main = temp.git('rev-parse', 'main');
      const said = await ask(dryRun, false, switchesBefore('ls-files -z'));
      expect(said).toMatch(
        /^MERGE_NOT_THERE: main is not checked out in .* any more: something else is\. Nothing was changed\.$/,
      );
      expect(tips()).toEqual([main, main]);
    },
  );

  it('does not say that main has it when the other branch was moved instead', async () => {
    const main = temp.git('rev-parse', 'main');
    expect(await ask(false, false, switchesBefore('merge --quiet'))).toMatch(
      /^MERGE_NOT_IN_BRANCH: main does not have the merge: /,
    );
    expect(tips()[0]).toBe(main);
  });
});

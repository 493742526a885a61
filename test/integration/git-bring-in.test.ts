import { rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { bringIn, openRepository } from '../../src/git/index.ts';
import type { AppError } from '../../src/lib/index.ts';
import { fingerprint, tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

let temp: TempRepository;

/** A feature that changes two files of main and brings two. */
beforeEach(() => {
  temp = tempRepository();
  temp.commit({ 'one.txt': '1\n', 'two.txt': '2\n', 'other.txt': 'o\n', '.gitignore': 'ignored.txt\n' });
  temp.git('checkout', '--quiet', '-b', 'feature');
  temp.commit({ 'one.txt': 'one\n', 'two.txt': 'two\n', 'new/a.txt': 'a\n' });
  stage('ignored.txt', 'i\n');
  temp.commit({ 'b.txt': 'b\n' });
  temp.git('checkout', '--quiet', 'main');
});

/** Writes a file of the user's and stages it. */
function stage(file: string, text: string): void {
  temp.write(file, text);
  temp.git('add', '--force', '--', file);
}

async function ask(dryRun: boolean): Promise<string> {
  const repository = await openRepository(temp.folder, temp.env);
  const wish = { from: 'feature', into: 'main', message: 'Merge', dryRun, env: temp.env };
  return bringIn(repository, wish).then(
    ({ kind }) => kind,
    ({ code, message }: AppError) => `${code}: ${message}`,
  );
}

/** What git keeps for merges that could have been is not looked at. */
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
    [
      'a merge that nobody has concluded',
      () => temp.git('update-ref', 'MERGE_HEAD', temp.git('rev-parse', 'HEAD')),
      ['MERGE_HEAD'],
    ],
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
    temp.write('other.txt', 'mine, and in nobodys way\n');
    const before = seen();
    const said = await ask(true);
    expect(seen()).toEqual(before);
    for (const name of names) expect(said).toContain(name);
    expect(said).toMatch(/^MERGE_DIRTY: main is checked out in .* Nothing was changed\.$/);
    expect(said).not.toContain('other.txt');
    expect(await ask(false)).toMatch(/^MERGE_DIRTY: main is checked out in /);
  });

  it.each<[string, () => void]>([
    ['changes elsewhere', () => [temp.write('other.txt', 'mine\n'), stage('own.txt', 'mine\n')]],
    ['files that were only touched', () => utimesSync(path.join(temp.folder, 'one.txt'), 1, 1)],
    ['files that were removed and not staged', () => rmSync(path.join(temp.folder, 'one.txt'))],
    ['files that are staged as they would be', () => stage('one.txt', 'one\n')],
    ['files that git is to ignore', () => temp.write('ignored.txt', 'mine\n')],
  ])('does not mind, as the merge does not, %s', async (_, prepare) => {
    prepare();
    const before = seen();
    expect(await ask(true)).toBe('would-merge');
    expect(seen()).toEqual(before);
    expect(await ask(false)).toBe('merged');
  });
});

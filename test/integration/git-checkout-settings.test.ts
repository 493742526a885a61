import path from 'node:path';
import { expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import { lockFilesOf } from '../../src/git/lock-files.ts';
import { tempRepository, writeFile } from '../support/temp-repository.ts';

it('what changes the files of a checkout is known: settings, attributes of the user and of the repository', async () => {
  const temp = tempRepository();
  temp.commit({ 'a.txt': 'a\n' });
  const repository = await openRepository(temp.folder, temp.env);
  const seen = new Set<string>();
  const look = async (): Promise<void> => void seen.add(JSON.stringify(await repository.checkoutSettings()));
  await look();
  temp.git('config', 'user.email', 'other@example.org');
  await look();
  expect(seen.size).toBe(1);
  temp.git('config', 'core.autocrlf', 'true');
  await look();
  temp.git('config', 'core.eol', 'crlf');
  await look();
  temp.git('config', 'core.symlinks', 'false');
  await look();
  writeFile(path.join(temp.folder, '.git/info/attributes'), '*.txt eol=crlf\n');
  await look();
  writeFile(path.join(temp.folder, '../attributes'), '*.txt text\n');
  temp.git('config', 'core.attributesFile', path.join(temp.folder, '../attributes'));
  await look();
  expect(seen.size).toBe(6);
});

it('the rules of a commit for checkouts count like its lock files', async () => {
  const temp = tempRepository();
  const plain = temp.commit({ 'package-lock.json': '{}\n', 'package.json': '{}\n' });
  const ruled = temp.commit({ 'in/.gitattributes': '* text\n' });
  const repository = await openRepository(temp.folder, temp.env);
  const paths = async (commit: string): Promise<(string | undefined)[]> =>
    (await repository.lockFilesOf(commit)).lockFiles.map((entry) => entry.split('\t')[1]);
  expect(await paths(plain)).toEqual(['package-lock.json']);
  expect(await paths(ruled)).toEqual(['package-lock.json', 'in/.gitattributes']);
});

it('the size of a checkout is that of all files of the commit', async () => {
  const temp = tempRepository();
  const before = temp.commit({ 'a.txt': 'a'.repeat(1000) });
  const after = temp.commit({ 'in/b ü.txt': 'b'.repeat(234), empty: '' });
  const { checkoutBytes } = await openRepository(temp.folder, temp.env);
  expect((await checkoutBytes(after)) - (await checkoutBytes(before))).toBe(234);
  expect(await checkoutBytes(before)).toBeGreaterThanOrEqual(1000);
});

it('where a commit has so many files that git prints too much, all of its files count as those that name packages', async () => {
  const temp = tempRepository();
  const commit = temp.commit({ 'package-lock.json': '{}\n', 'src/a.txt': 'a\n' });
  const { git } = await openRepository(temp.folder, temp.env);
  const few: typeof git = {
    ...git,
    text: (args, options) => git.text(args, { ...options, ...(args[0] === 'ls-tree' ? { mostOutput: 80 } : {}) }),
  };
  const tree = temp.git('rev-parse', `${commit}^{tree}`);
  expect(await lockFilesOf(few, commit)).toEqual({ lockFiles: [tree], files: Infinity });
  expect(await lockFilesOf(git, commit)).toMatchObject({ lockFiles: [expect.stringMatching(/\tpackage-lock.json$/)] });
});

import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { writeFile } from '../../test/support/temp-repository.ts';
import { copiedFiles, copyFiles } from './copy-files.ts';

function makeFolders(): { copies: string; folder: string; inode(file: string): number; read(file: string): string } {
  const top = tempFolder();
  const [copies, folder] = [path.join(top, 'copies'), path.join(top, 'worktree')];
  mkdirSync(folder);
  writeFile(path.join(copies, '.env'), 's3cret');
  writeFile(path.join(copies, 'deep/key'), 'key');
  const at = (file: string): string => path.join(folder, file);
  return { copies, folder, inode: (file) => statSync(at(file)).ino, read: (file) => readFileSync(at(file), 'utf8') };
}

it('copies nothing that is there already', async () => {
  const { copies, folder, inode } = makeFolders();
  expect((await copiedFiles(copies)).toSorted()).toEqual(['.env', 'deep/key']);
  expect(await copyFiles(copies, folder)).toBe(true);
  const before = [inode('.env'), inode('deep/key')];
  expect(await copyFiles(copies, folder)).toBe(false);
  expect([inode('.env'), inode('deep/key')]).toEqual(before);
});

it('copies again what a task has changed, removed or replaced, and what is new', async () => {
  const { copies, folder, read } = makeFolders();
  await copyFiles(copies, folder);
  writeFileSync(path.join(folder, '.env'), 'spoilt');
  chmodSync(path.join(folder, 'deep/key'), 0o777);
  expect(await copyFiles(copies, folder)).toBe(true);
  expect(read('.env')).toBe('s3cret');
  expect(statSync(path.join(folder, 'deep/key')).mode & 0o777).not.toBe(0o777);
  rmSync(path.join(folder, 'deep'), { recursive: true });
  rmSync(path.join(folder, '.env'));
  symlinkSync('deep/key', path.join(folder, '.env'));
  expect(await copyFiles(copies, folder)).toBe(true);
  expect([read('.env'), read('deep/key')]).toEqual(['s3cret', 'key']);
  expect(await copyFiles(path.join(copies, 'none'), folder)).toBe(false);
});

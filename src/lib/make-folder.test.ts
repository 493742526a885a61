import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mountSmallDisk } from '../../test/support/small-disk.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { makeFolder } from './make-folder.ts';

it('a folder is made with those above it, with the rights asked for, and once only', async () => {
  const top = tempFolder();
  const folder = path.join(top, 'a/b/c');
  for (let time = 0; time < 2; time++) await makeFolder(folder, 0o700);
  expect([folder, path.join(top, 'a')].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
});

it('a folder that a disk does not take is refused with the reason of the disk', async (context) => {
  const disk = mountSmallDisk(1);
  context.skip(disk === undefined, 'no small disk can be mounted here');
  try {
    const there = path.join(disk?.folder ?? '', 'there');
    mkdirSync(there);
    execFileSync('mount', ['-o', 'remount,ro', disk?.folder ?? '']);
    await makeFolder(there);
    await expect(makeFolder(path.join(there, 'a/b'))).rejects.toMatchObject({
      code: 'EROFS',
      path: path.join(there, 'a'),
    });
  } finally {
    disk?.remove();
  }
});

it('a file or a link to nothing in the place of a folder stays, and is named', async () => {
  const [file, link] = ['file', 'link'].map((name) => path.join(tempFolder(), name)) as [string, string];
  writeFileSync(file, '');
  symlinkSync('nowhere', link);
  await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST', path: file });
  await expect(makeFolder(path.join(file, 'a'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeFolder(path.join(link, 'a'))).rejects.toMatchObject({ syscall: 'mkdir' });
});

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { readIfThere } from './if-there.ts';
import { readWhole } from './read-whole.ts';

it('a file is read, also through a link, and none is undefined where there is none', async () => {
  const folder = tempFolder();
  writeFileSync(path.join(folder, 'file'), 'text');
  execFileSync('ln', ['-s', 'file', 'link'], { cwd: folder });
  expect((await readWhole(path.join(folder, 'link'))).toString()).toBe('text');
  expect((await readIfThere(path.join(folder, 'file')))?.toString()).toBe('text');
  expect(await readIfThere(path.join(folder, 'none'))).toBeUndefined();
});

it('what would keep its reader waiting is refused', async () => {
  const folder = tempFolder();
  execFileSync('mkfifo', ['pipe'], { cwd: folder });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'socket'), resolve));
  await expect(readWhole(path.join(folder, 'pipe'))).rejects.toThrow('it is a named pipe, and no file');
  await expect(readIfThere(path.join(folder, 'pipe'))).rejects.toThrow('it is a named pipe, and no file');
  await expect(readWhole(path.join(folder, 'socket'))).rejects.toThrow('it is a socket, and no file');
  await expect(readWhole('/dev/zero')).rejects.toThrow('it is a device, and no file');
  await expect(readWhole(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  server.close();
});

import { chmodSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';

/** Root may remove everything, so as root the test runs as another user. */
const AS_OTHER_USER = `
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { removeTree } from './lib/index.js';
process.chdir(process.env.PLACE);
if (process.getuid() === 0) { process.setgroups([]); process.setgid(4711); process.setuid(4711); }
`;

it('a tree is removed although folders in it forbid that to their owner; targets of links stay', async () => {
  const place = path.join(tempFolder(), 'place');
  mkdirSync(place);
  chmodSync(path.dirname(place), 0o755);
  chmodSync(place, 0o777);
  const code = `${AS_OTHER_USER}
    mkdirSync('outside/closed', { recursive: true });
    mkdirSync('tree/deep/down', { recursive: true });
    writeFileSync('tree/deep/down/file', '');
    symlinkSync('../../outside', 'tree/deep/link');
    for (const [folder, mode] of [['outside/closed', 0o500], ['tree/deep/down', 0o555], ['tree/deep', 0], ['tree', 0o500]]) chmodSync(folder, mode);
    await removeTree('tree');
    await removeTree('was never there');
    console.log(existsSync('tree'), existsSync('outside/closed'));`;
  const { output } = await startNode(code, { PLACE: place }).end;
  expect(output).toBe('false true\n');
  expect(statSync(path.join(place, 'outside/closed')).mode & 0o777).toBe(0o500);
});

it('a tree is removed although its paths are longer than the system allows', async () => {
  const place = path.join(tempFolder(), 'place');
  mkdirSync(place);
  chmodSync(path.dirname(place), 0o755);
  chmodSync(place, 0o777);
  const code = `${AS_OTHER_USER}
    mkdirSync('tree');
    process.chdir('tree');
    for (let depth = 0; depth < 1000; depth++) {
      mkdirSync('abcdefghij');
      process.chdir('abcdefghij');
      if (depth % 100 === 0) chmodSync('.', 0o300);
    }
    process.chdir(process.env.PLACE);
    await removeTree('tree');
    console.log(existsSync('tree'));`;
  const { output } = await startNode(code, { PLACE: place }).end;
  expect(output).toBe('false\n');
});

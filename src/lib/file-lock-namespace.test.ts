import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { foreignLock, lockHolder, tryLock, withLock } from './file-lock.ts';
import type { LockHolder } from './file-lock.ts';

/** Before a command that gets a PID namespace of its own, and keeps the name of the host. */
const UNSHARE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

function canUnshare(): boolean {
  try {
    const [program = '', ...args] = UNSHARE;
    execFileSync(program, [...args, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A lock as this process would hold it, changed. */
async function lockLikeOurs(change: Partial<LockHolder>): Promise<{ file: string; holder: LockHolder }> {
  const file = path.join(tempFolder(), 'lock');
  await tryLock(file);
  const holder = { ...(JSON.parse(readFileSync(file, 'utf8')) as LockHolder), ...change };
  writeFileSync(file, JSON.stringify(holder));
  return { file, holder };
}

it('a lock of another PID namespace counts as held, since its process cannot be seen', async () => {
  const { file, holder } = await lockLikeOurs({ pid: 99_999_999, pids: 'pid:[1]' });
  expect(await lockHolder(file)).toEqual(holder);
  expect(await tryLock(file)).toEqual({ taken: false, holder });
  const error = { code: 'LOCK_FOREIGN', message: expect.stringContaining('another container or PID namespace') };
  await expect(withLock(file, 0, async () => 'done')).rejects.toMatchObject(error);
});

it.runIf(process.platform === 'linux')('a lock of another PID namespace is free after a new boot', async () => {
  const { file } = await lockLikeOurs({ pid: 1, pids: 'pid:[1]', started: '00000000:1' });
  expect(await lockHolder(file)).toBeUndefined();
  expect(await tryLock(file)).toMatchObject({ taken: true });
});

it('a lock of an earlier version, which names no PID namespace, is judged by its process', async () => {
  const { file, holder } = await lockLikeOurs({});
  const { pids: _, ...earlier } = holder;
  writeFileSync(file, JSON.stringify(earlier));
  expect(await lockHolder(file)).toEqual(earlier);
  expect(foreignLock(file, earlier)).toBeUndefined();
  writeFileSync(file, JSON.stringify({ ...earlier, pid: 99_999_999 }));
  expect(await lockHolder(file)).toBeUndefined();
});

it.skipIf(!canUnshare())(
  'neither of two PID namespaces of a host takes the lock of a process in the other',
  async () => {
    const [theirs, ours] = [path.join(tempFolder(), 'lock'), path.join(tempFolder(), 'lock')];
    await tryLock(ours);
    const other = startNode(
      `import { lockHolder, tryLock } from './lib/index.js';
     const attempts = [await tryLock(process.env.THEIRS), await tryLock(process.env.OURS)];
     console.log(JSON.stringify([...attempts.map(({ taken }) => taken), process.pid]));
     setInterval(() => {}, 1000);`,
      { THEIRS: theirs, OURS: ours },
      UNSHARE,
    );
    await other.printed(']\n');
    const [first, second, pid] = JSON.parse(other.output()) as unknown[];
    expect([first, second]).toEqual([true, false]);
    expect(await tryLock(theirs)).toMatchObject({ taken: false, holder: { pid } });
  },
);

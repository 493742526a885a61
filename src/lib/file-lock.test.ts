import { hostname } from 'node:os';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { mountSmallDisk } from '../../test/support/small-disk.ts';
import { STRACE } from '../../test/support/strace.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { lockHolder, tryLock, withLock } from './file-lock.ts';
import { ownIdentity } from './process-tree.ts';

/** Takes the lock in another process, says so, and keeps it. */
async function heldElsewhere(file: string): Promise<ReturnType<typeof startNode>> {
  const holder = startNode(
    `import { tryLock } from './lib/index.js';
     console.log((await tryLock(process.env.FILE)).taken ? 'mine' : 'not mine');
     setInterval(() => {}, 1000);`,
    { FILE: file },
  );
  await holder.printed('mine');
  return holder;
}

it('a lock is held by one process at a time, of twenty that each add to a counter', async () => {
  const folder = tempFolder();
  const counter = path.join(folder, 'counter');
  writeFileSync(counter, '0');
  const processes = Array.from({ length: 20 }, () =>
    startNode(
      `import { readFile, writeFile } from 'node:fs/promises';
       import { withLock } from './lib/index.js';
       const add = async () => {
         const before = Number(await readFile(process.env.COUNTER, 'utf8'));
         await writeFile(process.env.COUNTER, String(before + 1));
       };
       for (let n = 0; n < 5; n++) await withLock(process.env.COUNTER + '.lock', 60_000, add);`,
      { COUNTER: counter },
    ),
  );
  for (const { end } of processes) expect(await end).toEqual({ code: 0, signal: null, output: '' });
  expect(readFileSync(counter, 'utf8')).toBe('100');
  expect(readdirSync(folder)).toEqual(['counter']);
});

it('a lock is held once at a time within a process, too', async () => {
  const file = path.join(tempFolder(), 'lock');
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
  };
  await Promise.all(Array.from({ length: 20 }, () => withLock(file, 60_000, work)));
  expect(most).toBe(1);
  expect(existsSync(file)).toBe(false);
});

it('a busy lock says who holds it', async () => {
  const file = path.join(tempFolder(), 'lock');
  expect(await lockHolder(file)).toBeUndefined();
  const attempt = await tryLock(file);
  if (!attempt.taken) throw new Error('a free lock was not taken');
  expect(await lockHolder(file)).toMatchObject({ ...(await ownIdentity()), host: hostname() });
  const since = (await lockHolder(file))?.since ?? '';
  expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
  expect(await tryLock(file)).toMatchObject({ taken: false, holder: { pid: process.pid, since } });
  await attempt.release();
  await attempt.release();
  expect(await lockHolder(file)).toBeUndefined();
});

it('waiting for a lock ends after the limit, and the error names its holder', async () => {
  const file = path.join(tempFolder(), 'lock');
  const holder = await heldElsewhere(file);
  const work = withLock(file, 50, async () => 'done');
  await expect(work).rejects.toMatchObject({ code: 'LOCK_BUSY', facts: { file, pid: holder.pid, waitedMs: 50 } });
  holder.child.kill('SIGKILL');
  await holder.end;
  expect(await withLock(file, 60_000, async () => 'done')).toBe('done');
});

it('taking a lock on a full disk leaves no draft', async (context) => {
  const disk = mountSmallDisk(1);
  context.skip(disk === undefined, 'no small disk can be mounted here');
  try {
    const folder = disk?.folder ?? '';
    expect(() => writeFileSync(path.join(folder, 'fill'), Buffer.alloc(2 * 1024 * 1024))).toThrow('ENOSPC');
    await expect(tryLock(path.join(folder, 'lock'))).rejects.toThrow('ENOSPC');
    expect(readdirSync(folder)).toEqual(['fill']);
  } finally {
    disk?.remove();
  }
});

it.skipIf(!STRACE).each([1, 2])(
  'a lock is free again, and no draft is left, although the removal of file %i fails at first',
  async (nth) => {
    const folder = tempFolder();
    const code = `
      import { withLock } from './lib/index.js';
      for (const text of ['one', 'two']) console.log(await withLock(process.env.FILE, 0, async () => text));`;
    const strace = ['strace', '-qqq', '--output=/dev/null', '--follow-forks', '--trace=/^unlink'];
    const env = { FILE: path.join(folder, 'lock'), UV_THREADPOOL_SIZE: '1' };
    const { end } = startNode(code, env, [...strace, `--inject=/^unlink:error=EIO:when=${nth}`]);
    expect(await end).toEqual({ code: 0, signal: null, output: 'one\ntwo\n' });
    expect(readdirSync(folder)).toEqual([]);
  },
);

it('a lock is free again when the work fails', async () => {
  const file = path.join(tempFolder(), 'lock');
  await expect(withLock(file, 1000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(existsSync(file)).toBe(false);
});

it('the lock of a killed process is taken over by exactly one of many callers', async () => {
  const folder = tempFolder();
  const file = path.join(folder, 'lock');
  for (let round = 0; round < 5; round++) {
    const holder = await heldElsewhere(file);
    holder.child.kill('SIGKILL');
    await holder.end;
    const attempts = await Promise.all(Array.from({ length: 20 }, () => tryLock(file)));
    const winners = attempts.filter((attempt) => attempt.taken);
    expect(winners).toHaveLength(1);
    expect(await lockHolder(file)).toMatchObject({ pid: process.pid });
    await winners[0]?.release();
  }
  expect(readdirSync(folder)).toEqual([]);
});

it('the lock of a killed process is taken over by one of several processes', async () => {
  const folder = tempFolder();
  const file = path.join(folder, 'lock');
  const dead = await heldElsewhere(file);
  dead.child.kill('SIGKILL');
  await dead.end;
  const others = Array.from({ length: 6 }, () =>
    startNode(
      `import { tryLock } from './lib/index.js';
       console.log((await tryLock(process.env.FILE)).taken ? 'won' : 'lost');
       setInterval(() => {}, 1000);`,
      { FILE: file },
    ),
  );
  await Promise.all(others.map((other) => waitUntil('it has tried', () => /won|lost/.test(other.output()))));
  expect(others.filter((other) => other.output().includes('won'))).toHaveLength(1);
  for (const { child } of others) child.kill('SIGKILL');
});

it('a stale lock is taken over although a process was killed while it took it over', async () => {
  const folder = tempFolder();
  const file = path.join(folder, 'lock');
  const dead = JSON.stringify({ pid: 99_999_999, started: 'x', host: hostname(), since: '', token: 'dead' });
  writeFileSync(file, dead);
  writeFileSync(`${file}.takeover`, dead);
  const attempts = await Promise.all(Array.from({ length: 10 }, () => tryLock(file)));
  const winners = attempts.filter((attempt) => attempt.taken);
  expect(winners).toHaveLength(1);
  await winners[0]?.release();
  expect(readdirSync(folder)).toEqual([]);
});

it('a lock is free when its pid belongs to a later process', async () => {
  const file = path.join(tempFolder(), 'lock');
  const reused = { pid: process.pid, started: 'another time', host: hostname(), since: 'then', token: 'x' };
  writeFileSync(file, JSON.stringify(reused));
  expect(await lockHolder(file)).toBeUndefined();
  expect(await tryLock(file)).toMatchObject({ taken: true });
});

it.each(['', 'garbage', '{"pid": 1', 'null', '[]', '{"pid": "1"}', '12'])(
  'a lock file with %j counts as free',
  async (text) => {
    const file = path.join(tempFolder(), 'lock');
    writeFileSync(file, text);
    expect(await lockHolder(file)).toBeUndefined();
    const attempt = await tryLock(file);
    if (!attempt.taken) throw new Error('a free lock was not taken');
    expect(await lockHolder(file)).toMatchObject({ pid: process.pid });
    await attempt.release();
  },
);

it('a lock of another host counts as held, since its process cannot be seen', async () => {
  const file = path.join(tempFolder(), 'lock');
  const foreign = { pid: 99_999_999, started: 'x', host: 'another.example', since: 'then', token: 'x' };
  writeFileSync(file, JSON.stringify(foreign));
  expect(await lockHolder(file)).toEqual(foreign);
  expect(await tryLock(file)).toEqual({ taken: false, holder: foreign });
});

it('releasing a lost lock leaves that of its new holder', async () => {
  const file = path.join(tempFolder(), 'lock');
  const attempt = await tryLock(file);
  if (!attempt.taken) throw new Error('a free lock was not taken');
  const other = JSON.stringify({ ...(await lockHolder(file)), token: 'another' });
  writeFileSync(file, other);
  await attempt.release();
  expect(readFileSync(file, 'utf8')).toBe(other);
});

it('the error for a lock of another host names that host', async () => {
  const file = path.join(tempFolder(), 'lock');
  const holder = { pid: process.pid, started: 'x', host: 'another-host', since: 'now', token: 'theirs' };
  writeFileSync(file, JSON.stringify(holder));
  await expect(withLock(file, 0, async () => 'done')).rejects.toMatchObject({
    code: 'LOCK_FOREIGN',
    facts: { file, pid: process.pid, host: 'another-host' },
  });
  expect(await lockHolder(file)).toEqual(holder);
});

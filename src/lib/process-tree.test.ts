import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { randomId } from './ids.ts';
import { kill, run } from './process.ts';
import {
  environmentOf,
  findByEnvironment,
  isAlive,
  killByEnvironment,
  ownIdentity,
  processStart,
} from './process-tree.ts';

const MARK = 'PROCESS_TREE_TEST';

/** Starts a shell that carries the mark; the test leaves nothing of it. */
function startMarked(script: string, mark: string): number {
  const child = spawn('bash', ['-c', script], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], [MARK]: mark },
  });
  onTestFinished(async () => void (await killByEnvironment(MARK, mark)));
  return child.pid ?? 0;
}

async function waitForCount(mark: string, count: number): Promise<void> {
  await waitUntil(`${count} processes carry the mark`, async () => {
    return (await findByEnvironment(MARK, mark)).length === count;
  });
}

async function namesOf(mark: string): Promise<string[]> {
  const pids = await findByEnvironment(MARK, mark);
  const { stdout } = await run('ps', ['-o', 'comm=', '-p', pids.join(',')], {
    cwd: '/',
    env: { PATH: process.env['PATH'] },
  });
  return stdout.trim().split('\n');
}

it('the start time tells a process from a later one with the same pid', async () => {
  const own = await ownIdentity();
  expect(own.pid).toBe(process.pid);
  expect(await isAlive(own)).toBe(true);
  expect(await isAlive({ ...own, started: `${own.started}0` })).toBe(false);
  expect(await isAlive({ ...own, started: 'unknown' })).toBe(false);
});

it('the start time of a process is the same at any time, and for other processes', async () => {
  const own = await ownIdentity();
  const other = startNode(
    `import { processStart } from './lib/index.js'; process.stdout.write(await processStart(${process.pid}));`,
  );
  expect(await other.end).toMatchObject({ code: 0, output: own.started });
});

it('a process that has ended or never was is not alive', async () => {
  const { stdout } = await run('bash', ['-c', 'echo $$'], { cwd: '/', env: { PATH: process.env['PATH'] } });
  for (const pid of [Number(stdout), 0, -1, 99_999_999]) expect(await processStart(pid)).toBeUndefined();
});

it.runIf(process.platform === 'linux')('a zombie is not alive', async () => {
  const mark = randomId();
  const parent = startMarked('sleep 1000 & exec sleep 1000', mark);
  await waitForCount(mark, 2);
  await waitUntil('the parent is no shell any more', () => readFileSync(`/proc/${parent}/comm`, 'utf8') === 'sleep\n');
  const child = (await findByEnvironment(MARK, mark)).find((pid) => pid !== parent) ?? 0;
  kill(child, 'SIGKILL');
  await waitUntil('the child counts as gone', async () => (await processStart(child)) === undefined);
  expect(kill(child, 0)).toBe(true);
});

it('a strange program name does not change the start time', async () => {
  const mark = randomId();
  const child = startMarked(String.raw`exec -a ") Z 1 2 (" sleep 1000`, mark);
  await waitForCount(mark, 1);
  expect(await processStart(child)).toBeDefined();
});

it('a whole tree is found and killed: children, what left the session, and what lost its parents', async () => {
  const mark = randomId();
  const bystander = randomId();
  startMarked('exec sleep 1000', bystander);
  startMarked('sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 & sleep 1000 &) ; wait', mark);
  // Shells that start them and end count for a moment, too.
  await waitUntil(
    'four of them sleep',
    async () => (await namesOf(mark)).filter((name) => name.endsWith('sleep')).length === 4,
  );
  await waitForCount(mark, 5);
  await waitForCount(bystander, 1);
  expect(await killByEnvironment(MARK, mark)).toBe(5);
  expect(await findByEnvironment(MARK, mark)).toEqual([]);
  expect(await findByEnvironment(MARK, bystander)).toHaveLength(1);
  expect(await killByEnvironment(MARK, mark)).toBe(0);
});

it('a process that keeps starting others is killed with them', async () => {
  const mark = randomId();
  startMarked('f() { sleep 0.01; f & sleep 1000 & }; f; wait', mark);
  await waitUntil('it has grown', async () => (await findByEnvironment(MARK, mark)).length > 8);
  await killByEnvironment(MARK, mark);
  expect(await findByEnvironment(MARK, mark)).toEqual([]);
});

it.runIf(process.platform === 'linux')('a process that becomes another program again and again is killed', async () => {
  // In the middle of that it has no environment.
  for (let trial = 0; trial < 20; trial += 1) {
    const mark = randomId();
    const pid = startMarked('export AGAIN=\'exec bash -c "$AGAIN"\'; exec bash -c "$AGAIN"', mark);
    await waitUntil('it runs', async () => (await findByEnvironment(MARK, mark)).length === 1);
    await killByEnvironment(MARK, mark);
    expect(await processStart(pid)).toBeUndefined();
  }
});

it('a mark does not match another one that begins with it', async () => {
  const mark = randomId();
  startMarked('exec sleep 1000', `${mark}-2`);
  await waitForCount(`${mark}-2`, 1);
  expect(await findByEnvironment(MARK, mark)).toEqual([]);
  expect(await findByEnvironment('TREE_TEST', `${mark}-2`)).toEqual([]);
});

it('the calling process is not killed, although it has the mark', async () => {
  const mark = randomId();
  const other = startNode(
    `import { killByEnvironment } from './lib/index.js';
     process.stdout.write('killed ' + await killByEnvironment('${MARK}', '${mark}'));`,
    { [MARK]: mark },
  );
  expect(await other.end).toEqual({ code: 0, signal: null, output: 'killed 0' });
});

it('the environment of a process is read, and is empty after its end', async () => {
  const mark = `${randomId()} = with = signs`;
  const pid = startMarked('exec sleep 1000', mark);
  await waitForCount(mark, 1);
  // It has none for a moment while the shell becomes another program.
  const wanted = { [MARK]: mark, PATH: process.env['PATH'] };
  await expect.poll(() => environmentOf(pid), { timeout: 60_000 }).toMatchObject(wanted);
  expect(await environmentOf(99_999_999)).toEqual({});
});

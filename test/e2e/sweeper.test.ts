import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { endOf, tryLock } from '../../src/lib/index.ts';
import { MARKS } from '../../src/protocol/index.ts';
import { asMacOs } from '../support/as-macos.ts';
import { startNode } from '../support/node-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const SWEEPER = fileURLToPath(new URL('../../dist/bundle/sweeper/sweeper.js', import.meta.url));
const VERSION = { Version: '99', ApiVersion: '1.43', MinAPIVersion: '1.24', Components: [] };

it('the sweeper removes nothing of a run that was taken over while it looked for the engine', async () => {
  const folder = tempFolder();
  const [lock, socket] = [path.join(folder, 'lock'), path.join(folder, 'engine.sock')];
  const asked: string[] = [];
  let release: (() => Promise<void>) | undefined;
  // An engine with nothing in it. Before it answers for the first time, the lock is taken.
  const server = createServer((request, response) => {
    void (async () => {
      asked.push(`${request.method} ${request.url?.split('?')[0]?.replace(/^\/v[\d.]+/, '')}`);
      if (asked.length === 1) {
        const attempt = await tryLock(lock);
        if (attempt.taken) ({ release } = attempt);
      }
      const answer = request.url?.includes('/volumes') ? { Volumes: [] } : request.url?.includes('json') ? [] : VERSION;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    })();
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  const args = [SWEEPER, '--owner', 'r', '--lock', lock, '--lease-ms', '500'];
  const env = { PATH: process.env['PATH'], DOCKER_HOST: `unix://${socket}` };
  const sweeper = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void sweeper.kill('SIGKILL'));
  const end = endOf(sweeper, 'the sweeper');
  sweeper.stdin.end();
  await waitUntil('the lock is taken', () => release !== undefined);
  // More than the lease: it is for the one who holds the lock.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(asked.filter((call) => call.includes('/containers') || call.includes('/volumes'))).toEqual([]);
  await release?.();
  await end;
  expect(asked).toContain('GET /containers/json');
});

it('a sweeper ends when the run was resumed and has a new one, long before the resumed run is over', async () => {
  const lock = path.join(tempFolder(), 'lock');
  const held = await tryLock(lock);
  const start = (run: string, orchestrator: number) => {
    const args = [SWEEPER, '--owner', run, '--lock', lock, '--lease-ms', '600000'];
    const env = {
      PATH: process.env['PATH'],
      DOCKER_HOST: 'unix:///nowhere',
      [MARKS.sweeper]: `${run}.${orchestrator}`,
    };
    const sweeper = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
    onTestFinished(() => void sweeper.kill('SIGKILL'));
    return { sweeper, end: endOf(sweeper, 'the sweeper') };
  };
  const [old, older, other] = [start('r', 1), start('r', 2), start('s', process.pid)];
  for (const { sweeper } of [old, older]) sweeper.stdin.end();
  const next = start('r', process.pid);
  expect(await Promise.all([old.end, older.end])).toEqual([
    { code: 0, signal: null },
    { code: 0, signal: null },
  ]);
  expect([next.sweeper.exitCode, other.sweeper.exitCode]).toEqual([null, null]);
  if (held.taken) await held.release();
});

it('a sweeper waits while it is not known whether the holder of the lock lives, and then cleans up', async () => {
  const { env, folder } = asMacOs('echo >> asked; if [ -e dies ]; then kill -9 $$; fi; exec env ps "$@"');
  const [lock, socket] = [path.join(folder, 'lock'), path.join(folder, 'engine.sock')];
  const holder = startNode(
    `import { tryLock } from './lib/index.js';
     await tryLock('${lock}');
     console.log('held');
     setInterval(() => {}, 1000);`,
    env,
  );
  await holder.printed('held');
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(request.url ?? '');
    const answer = request.url?.includes('/volumes') ? { Volumes: [] } : request.url?.includes('json') ? [] : VERSION;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  const asked = (): number => readFileSync(path.join(folder, 'asked'), 'utf8').length;
  writeFileSync(path.join(folder, 'dies'), '');
  const before = asked();
  const args = [SWEEPER, '--owner', 'r', '--lock', lock, '--lease-ms', '500'];
  const host = { PATH: process.env['PATH'], DOCKER_HOST: `unix://${socket}`, ...env };
  const sweeper = spawn(process.execPath, args, { env: host, stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void sweeper.kill('SIGKILL'));
  const end = endOf(sweeper, 'the sweeper');
  sweeper.stdin.end();
  // One question is five tries.
  await waitUntil('it has asked again', () => asked() > before + 5 || sweeper.exitCode !== null);
  expect([sweeper.exitCode, calls]).toEqual([null, []]);
  rmSync(path.join(folder, 'dies'));
  holder.child.kill('SIGKILL');
  expect(await end).toEqual({ code: 0, signal: null });
  expect(calls.some((call) => call.includes('/containers/json'))).toBe(true);
});

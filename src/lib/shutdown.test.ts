import { expect, it } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { sleep } from './clock.ts';
import { listenForShutdown, SAME_MOMENT_MS } from './shutdown.ts';

const LATER_MS = SAME_MOMENT_MS + 50;

const PROGRAM = `
  import { listenForShutdown } from './lib/index.js';
  const shutdown = listenForShutdown(
    (name) => console.log('orderly: ' + name + ', exit status ' + shutdown.signal.reason),
    (exit) => { console.log('by force'); process.exit(exit); },
  );
  setInterval(() => {}, 1000);
  console.log('ready');`;

const count = (): number => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('the first %s requests an orderly end, the second forces it', async (name, code) => {
  const program = startNode(PROGRAM);
  await program.printed('ready');
  process.kill(program.pid, name);
  await program.printed(`orderly: ${name}, exit status ${code}`);
  expect(program.child.exitCode).toBeNull();
  await sleep(LATER_MS);
  process.kill(program.pid, name);
  expect(await program.end).toMatchObject({ code, signal: null, output: expect.stringMatching(/by force\n$/) });
});

it('the exit status is that of the last signal', async () => {
  const program = startNode(PROGRAM);
  await program.printed('ready');
  process.kill(program.pid, 'SIGTERM');
  await program.printed('orderly: SIGTERM');
  await sleep(LATER_MS);
  process.kill(program.pid, 'SIGINT');
  expect(await program.end).toMatchObject({ code: 130 });
});

it('signals of the same moment count as one: a process and its group may both be signalled', async () => {
  const program = startNode(`${PROGRAM} process.once('SIGTERM', () => process.emit('SIGTERM'));`);
  await program.printed('ready');
  process.kill(program.pid, 'SIGTERM');
  await program.printed('orderly: SIGTERM');
  await sleep(LATER_MS);
  expect(program.output()).not.toContain('by force');
  process.kill(program.pid, 'SIGTERM');
  expect(await program.end).toMatchObject({ code: 143 });
});

it('after it is disposed of, other listeners have the signals', async () => {
  const program = startNode(`${PROGRAM} shutdown.dispose(); console.log('disposed');`);
  await program.printed('disposed');
  process.kill(program.pid, 'SIGTERM');
  expect(await program.end).toEqual({ code: null, signal: 'SIGTERM', output: 'ready\ndisposed\n' });
});

it('no listener stays behind', () => {
  const before = count();
  const shutdown = listenForShutdown(
    () => undefined,
    () => undefined,
  );
  expect(count()).toBe(before + 2);
  expect(shutdown.signal.aborted).toBe(false);
  shutdown.dispose();
  expect(count()).toBe(before);
});

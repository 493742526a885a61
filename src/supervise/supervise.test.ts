import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { processStart } from '../lib/index.ts';
import { supervise } from './supervise.ts';
import type { Supervised } from './supervise.ts';

const DAY_MS = 86_400_000;

function bash(
  script: string,
  limits: Partial<Parameters<typeof supervise>[2]> = {},
  cwd: string = tempFolder(),
): Promise<Supervised> {
  return supervise('bash', ['-c', script], {
    cwd,
    env: { PATH: process.env['PATH'] },
    onStdout: () => undefined,
    onStderr: () => undefined,
    totalMs: DAY_MS,
    graceMs: 0,
    stop: new AbortController().signal,
    ...limits,
  });
}

it('a job that ends by itself has its exit status and its duration', async () => {
  let output = '';
  const end = await bash('cat; exit 3', { input: 'given', onStdout: (text) => (output += text) });
  expect(end).toMatchObject({ code: 3, signal: null, endedBy: 'itself', exceeded: [] });
  expect(end.durationMs).toBeGreaterThanOrEqual(0);
  expect(output).toBe('given');
});

it.each([
  ['total', { totalMs: 50 }],
  ['idle', { idleMs: 50 }],
  ['completion', { completion: { ms: 50, reached: () => true } }],
  ['stopped', { stop: AbortSignal.abort() }],
] as const)('a job that meets a limit is ended, and the limit is named: %s', async (endedBy, limits) => {
  expect(await bash('exec sleep 86400', limits)).toMatchObject({ code: null, signal: 'SIGKILL', endedBy });
});

it('a job with output is not idle, and the time for completion begins only when completion is reached', async () => {
  const script = 'for _ in 1 2 3 4 5; do echo on; sleep 0.1; done; exit 7';
  const completion = { ms: 1, reached: () => false };
  expect(await bash(script, { idleMs: 60_000, completion })).toMatchObject({ code: 7, endedBy: 'itself' });
});

it('a job of which nothing can come is ended with the output that shows it', async () => {
  let output = '';
  const hopeless = (): boolean => output.includes('refused');
  const end = bash('echo begun; echo refused; exec sleep 86400', { onStdout: (text) => (output += text), hopeless });
  expect(await end).toMatchObject({ code: null, endedBy: 'completion' });
});

it('a process that a job has started in another session has ended too when the job is over', async () => {
  const cwd = tempFolder();
  const script = 'setsid bash -c "echo \\$\\$ > pid; exec sleep 86400" & until [ -s pid ]; do sleep 0.01; done';
  expect(await bash(script, {}, cwd)).toMatchObject({ code: 0, endedBy: 'itself' });
  expect(await processStart(Number(readFileSync(path.join(cwd, 'pid'), 'utf8')))).toBeUndefined();
});

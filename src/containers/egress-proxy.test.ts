import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../test/support/fake-engine.ts';
import type { FakeProgram } from '../../test/support/fake-container.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { logLine } from '../protocol/index.ts';
import { egressKey, egressToken } from './egress-key.ts';
import { keepEgressProxy } from './egress-proxy.ts';
import type { ContainerSettings } from './settings.ts';

/** A proxy that does this at every start, three of which within half a second are too many. */
async function keep(does: FakeProgram): Promise<{ log: string; starts: () => number }> {
  let count = 0;
  const machine = createFakeEngineMachine(
    (process) => {
      count += 1;
      does(process);
    },
    ['image'],
  );
  const shared = tempFolder();
  const proxy = keepEgressProxy(createFakeEngine(machine), {
    settings: { workerImage: 'image', repo: '/nowhere', uid: 1, gid: 1, runtime: null } as ContainerSettings,
    program: { command: [], env: {} },
    run: { runId: 'r', feature: 'f', shared, log: path.join(shared, 'worker-0.jsonl') },
    key: 'key',
    patience: (work) => work(),
    starts: { most: 3, withinMs: 500, againMs: 1 },
  });
  onTestFinished(() => proxy.close());
  await proxy.started;
  return { log: path.join(shared, 'egress.jsonl'), starts: () => count };
}

it('a proxy that ends again and again gets a rest, which the log tells; then it is started again', async () => {
  const { log, starts } = await keep((process) => setTimeout(() => process.runOutOfMemory(), 5));
  await waitUntil('it is started after the rest', () => starts() > 3);
  const [first] = readFileSync(log, 'utf8').split('\n');
  const { source, text } = logLine.parse(JSON.parse(first ?? ''));
  expect(source).toBe('egress');
  expect(text).toMatch(
    /^no worker has a network any more: the egress proxy has ended 3 times .*its memory was used up/,
  );
});

it('whoever resumes a run has the key that its proxy knows the workers by', async () => {
  const machine = createFakeEngineMachine(() => undefined, []);
  const run = { runId: 'r', feature: 'f' };
  const key = await egressKey(createFakeEngine(machine), run, '/repo');
  expect(await egressKey(createFakeEngine(machine), run, '/repo')).toBe(key);
  expect(await egressKey(createFakeEngine(machine), { ...run, runId: 'other' }, '/repo')).not.toBe(key);
  expect(egressToken(key, 1)).toMatch(/^[0-9a-f]{64}$/);
  expect(egressToken(key, 1)).not.toBe(egressToken(key, 2));
});

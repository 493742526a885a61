import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../test/support/fake-engine.ts';
import type { FakeProgram } from '../../test/support/fake-container.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { logLine } from '../protocol/index.ts';
import type { ModelAccess } from '../protocol/index.ts';
import { egressKey, egressToken } from './egress-key.ts';
import { keepEgressProxy } from './keep-proxy.ts';
import type { Owner } from './owner.ts';

const OWNER: Owner = { id: 'r', kind: 'run', labels: {}, leaseFolder: '/nowhere', egressLog: '/nowhere' };

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
    egress: {
      program: Promise.resolve({ command: [], env: {} }),
      image: 'image',
      uid: 1,
      gid: 1,
      runtime: null,
      access: null,
    },
    owner: { ...OWNER, leaseFolder: shared, egressLog: path.join(shared, 'egress.jsonl') },
    key: 'key',
    retry: (work) => work(),
    starts: { most: 3, withinMs: 500, againMs: 1 },
  });
  onTestFinished(() => proxy.close());
  await proxy.started;
  return { log: path.join(shared, 'egress.jsonl'), starts: () => count };
}

it('a proxy that ends again and again is started later, and the log says so', async () => {
  const { log, starts } = await keep((process) => setTimeout(() => process.runOutOfMemory(), 5));
  // Later than the third end where the machine is busy: then the first of them were too long ago.
  await waitUntil('the log says so', () => existsSync(log) && readFileSync(log, 'utf8').includes('\n'));
  const then = starts();
  await waitUntil('it is started after the rest', () => starts() > then);
  const [first] = readFileSync(log, 'utf8').split('\n');
  const { source, text } = logLine.parse(JSON.parse(first ?? ''));
  expect(source).toBe('egress');
  expect(text).toMatch(
    /^no worker has a network any more: the egress proxy has ended 3 times .*its memory was used up/,
  );
});

it('a resumed owner has the key with which its proxy checks the clients', async () => {
  const machine = createFakeEngineMachine(() => undefined, []);
  const key = await egressKey(createFakeEngine(machine), OWNER);
  expect(await egressKey(createFakeEngine(machine), OWNER)).toBe(key);
  expect(await egressKey(createFakeEngine(machine), { ...OWNER, id: 'other' })).not.toBe(key);
  expect(egressToken(key, 1)).toMatch(/^[0-9a-f]{64}$/);
  expect(egressToken(key, 1)).not.toBe(egressToken(key, 2));
});

it('a resumed owner keeps the proxy that it finds, and replaces one that was given other credentials', async () => {
  const lines: string[] = [];
  const machine = createFakeEngineMachine(
    ({ stdin, onTerm }) => {
      onTerm(() => undefined);
      stdin.on('data', (part: Buffer) => lines.push(part.toString()));
    },
    ['image'],
  );
  // An orchestrator that is killed sees no end of its proxy.
  const engine = { ...createFakeEngine(machine), waitContainer: () => new Promise<never>(() => undefined) };
  const shared = tempFolder();
  const begin = async (secret: string): Promise<string[]> => {
    const access: ModelAccess = {
      version: 1,
      url: 'https://model.test',
      headers: { 'x-api-key': secret },
      betas: [],
    };
    const program = Promise.resolve({ command: [], env: {} });
    const { started } = keepEgressProxy(engine, {
      egress: { program, image: 'image', uid: 1, gid: 1, runtime: null, access },
      owner: { ...OWNER, leaseFolder: shared, egressLog: path.join(shared, 'egress.jsonl') },
      key: 'key',
      retry: (work) => work(),
    });
    await started;
    expect(JSON.stringify([...machine.containers.values()].map(({ spec }) => spec))).not.toContain(secret);
    return (await engine.listContainers({})).map(({ id }) => id);
  };
  const first = await begin('made-up-one');
  expect(await begin('made-up-one')).toEqual(first);
  const other = await begin('made-up-two');
  expect(other).toHaveLength(1);
  expect(other).not.toEqual(first);
  await waitUntil('it has its credentials', () => lines.length === 2);
  expect(lines.map((line) => (JSON.parse(line) as { headers: object }).headers)).toEqual([
    { 'x-api-key': 'made-up-one' },
    { 'x-api-key': 'made-up-two' },
  ]);
});

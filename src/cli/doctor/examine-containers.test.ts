import { expect, it } from 'vitest';
import { engineFinding, limitsFinding } from './examine-containers.ts';

const GIB = 1024 ** 3;
type Workers = Parameters<typeof limitsFinding>[0];
type Info = Parameters<typeof limitsFinding>[1];

const container = (more: object = {}): Workers['container'] =>
  ({ memory: 4 * GIB, cpus: 2, pids: 512, ...more }) as Workers['container'];
const info = (more: Partial<Info> = {}): Info => ({
  cpus: 8,
  memoryBytes: 32 * GIB,
  limits: { memory: true, cpus: true, pids: true },
  runtimes: ['runc'],
  ...more,
});

it('an engine with enough for all workers, and with limits, is fine', () => {
  expect(limitsFinding({ count: 4, container: container() }, info(), 'bad')).toEqual({
    what: 'limits',
    state: 'ok',
    found: '4 workers with up to 4 GiB, 2 CPUs, 512 processes each; the engine has 32 GiB, 8 CPUs',
    remedy: null,
  });
});

it.each<[string, Partial<Info>, object, string]>([
  [
    'cannot limit',
    { limits: { memory: false, cpus: true, pids: false } },
    {},
    'cannot limit memory, pids of containers',
  ],
  [
    'has too little memory',
    { memoryBytes: 7.5 * GIB },
    {},
    '4 workers may use 4 GiB of memory each, the engine has 7.5 GiB',
  ],
  ['has too few CPUs', { cpus: 1 }, {}, 'a worker may use 2 CPUs, the engine has 1'],
])('an engine that %s gets a note with a remedy', (_, engine, limits, found) => {
  expect(limitsFinding({ count: 4, container: container(limits) }, info(engine), 'bad')).toMatchObject({
    state: 'note',
    found: expect.stringContaining(found),
    remedy: expect.stringMatching(/\w/),
  });
});

it('a missing runtime is bad where a run would be refused; all problems are reported together', () => {
  const wished = { count: 4, container: container({ runtime: 'runsc' }) };
  const finding = limitsFinding(wished, info({ cpus: 1 }), 'bad');
  expect(finding.state).toBe('bad');
  expect(finding.found.split('\n')).toHaveLength(2);
  expect(limitsFinding(wished, info(), 'note')).toMatchObject({
    state: 'note',
    found: expect.stringContaining('"runsc"'),
  });
});

it('an engine with a kernel for each container needs no list of system calls', () => {
  const able = { version: '1', endpoint: 'x', mapsUsers: false, takesSeccomp: false, ownKernels: true };
  const info = able as Parameters<typeof engineFinding>[1];
  expect(engineFinding('apple', info, 'bad')).toMatchObject({ state: 'ok', found: 'apple 1 at x' });
});

it.each([
  [{ mapsUsers: true, takesSeccomp: true }, 'Docker 1 at x: it maps users (it is rootless'],
  [{ mapsUsers: false, takesSeccomp: false }, 'Docker 1 at x: it takes no list of system calls with a container'],
])('an engine that cannot lock workers in is not used: %j', (able, found) => {
  const engine = { version: '1', endpoint: 'x', ...able } as Parameters<typeof engineFinding>[1];
  expect(engineFinding('Docker', engine, 'bad')).toMatchObject({ state: 'bad', found: expect.stringContaining(found) });
});

import { expect, it } from 'vitest';
import { shortages } from './shortages.ts';

const GIB = 1024 ** 3;
const WISHED = { memory: 4 * GIB, cpus: 2 };

it.each([
  [1, { cpus: 2, memoryBytes: 4 * GIB }, []],
  [2, { cpus: 2, memoryBytes: 7.5 * GIB }, ['2 workers may use 4 GiB of memory each, the engine has 7.5 GiB']],
  [1, { cpus: 1, memoryBytes: 4 * GIB }, ['a worker may use 2 CPUs, the engine has 1']],
  [
    1,
    { cpus: 1, memoryBytes: 2 * GIB },
    ['1 worker may use 4 GiB of memory each, the engine has 2 GiB', 'a worker may use 2 CPUs, the engine has 1'],
  ],
])('%i workers on an engine with %j', (count, engine, found) => {
  expect(shortages(count, WISHED, engine).map((one) => one.found)).toEqual(found);
});

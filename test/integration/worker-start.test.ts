import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Each takes a processor some milliseconds to load, at the start of each worker (docs/adr/0008). */
const SLOW_TO_LOAD = ['from "node:crypto"', 'from "node:util"', 'zod/v4/classic/'];

it('a worker loads nothing that it starts well without', () => {
  const program = readFileSync(fileURLToPath(new URL('../../dist/bundle/worker/worker.js', import.meta.url)), 'utf8');
  expect(program).toContain('zod/v4/mini/');
  expect(SLOW_TO_LOAD.filter((name) => program.includes(name))).toEqual([]);
});

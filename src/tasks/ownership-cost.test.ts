import { expect, it, vi } from 'vitest';
import { parseGraph } from './parse-graph.ts';
import { overlaps } from './pattern.ts';

// How often two paths are compared says more than a clock does, which runs differently on every machine.
vi.mock(import('./pattern.ts'), { spy: true });

it.each<[string, (index: number) => string]>([
  ['literal paths', (n) => `src/m${n}/a.ts`],
  ['literal paths in one folder', (n) => `src/m${n}.ts`],
  ['globs of their own folders', (n) => `src/m${n}/**`],
  ['alternatives', (n) => `src/m${n}/{a,b,c,d}{e,f,g,h}.ts`],
  ['one glob for all of a folder, beside paths elsewhere', (n) => (n === 0 ? 'docs/**' : `src/m${n}.ts`)],
])('only paths that begin alike are compared, however many tasks there are: %s', (_, create) => {
  vi.mocked(overlaps).mockClear();
  const tasks = Array.from({ length: 2000 }, (_, n) => ({ id: `T${n}`, files: { create: [create(n)] } }));
  expect(parseGraph({ feature: 'login', tasks })).toMatchObject({ ok: true });
  expect(overlaps).toHaveBeenCalledTimes(0);
});

it('paths that may clash are compared once for each pair', () => {
  vi.mocked(overlaps).mockClear();
  const globs = ['src/*_a.ts', 'src/*_b.ts', 'src/*_c.ts', 'docs/x.md'];
  parseGraph({ feature: 'login', tasks: globs.map((glob, n) => ({ id: `T${n}`, files: { create: [glob] } })) });
  expect(overlaps).toHaveBeenCalledTimes(3);
});

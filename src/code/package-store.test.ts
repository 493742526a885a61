import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { packageStore } from './package-store.ts';
import type { Installer } from './package-store.ts';

it('a store that a person has removed is made again by the next call, whichever that is', async () => {
  const folder = path.join(tempFolder(), 'own', 'packages');
  const store = packageStore({ folder, bytes: 1024 ** 3, scripts: [], image: 'bun:1' });
  const wanted = new Map([['one', 'latest']]);
  let installations = 0;
  const installer: Installer = {
    removeLeft: async () => undefined,
    install: async ({ draft }) => {
      installations += 1;
      writeFileSync(path.join(draft, 'package.json'), '{}');
      return { one: '1.0.0' };
    },
  };
  const take = () => store.take(wanted, installer, new AbortController().signal);
  await store.open();
  const [set, before] = [await take(), await store.place()];
  expect(await take()).toEqual(set);
  expect([await store.use(set), await store.place(), installations]).toEqual([true, before, 1]);

  rmSync(folder, { recursive: true });
  expect(await store.list()).toEqual([]);
  expect(await store.use(set)).toBe(false);
  expect(await store.find(wanted)).toBeUndefined();
  expect(await take()).toEqual(set);
  expect([await store.use(set), installations]).toEqual([true, 2]);

  rmSync(folder, { recursive: true });
  expect(await store.place()).toMatch(/^\d+ \d+$/);
  expect(await store.list()).toEqual([]);
});

import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { tryLock } from '../lib/index.ts';
import { packageStore } from './package-store.ts';
import type { Installer } from './package-store.ts';

const storeIn = (folder: string, bytes = 1024 ** 3) => packageStore({ folder, bytes, scripts: [], image: 'bun:1' });

it('a store that a person has removed is made again by the next call, whichever that is', async () => {
  const folder = path.join(tempFolder(), 'own', 'packages');
  const store = storeIn(folder);
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

it('a set that comes into use while room is made stays, whatever was found before', async () => {
  const folder = path.join(tempFolder(), 'packages');
  const installer: Installer = {
    removeLeft: async () => undefined,
    install: async ({ draft }) => {
      for (let file = 0; file < 500; file += 1) writeFileSync(path.join(draft, String(file)), 'x'.repeat(5000));
      return {};
    },
  };
  const take = (name: string, store: ReturnType<typeof storeIn>) =>
    store.take(new Map([[name, 'latest']]), installer, new AbortController().signal);
  const store = storeIn(folder);
  const [first, second] = [await take('first', store), await take('second', store)];
  const noteOf = ({ key }: typeof first): string => path.join(folder, 'known', `${key}.json`);
  for (const [set, days] of [
    [first, 3],
    [second, 2],
  ] as const) {
    const at = new Date(Date.now() - days * 24 * 60 * 60_000);
    utimesSync(noteOf(set), at, at);
  }
  const taken = take('third', storeIn(folder, 1024 ** 2)).catch((error: unknown) => error);
  while (existsSync(noteOf(first))) await nextTurn();
  const isUsed = await store.use(second);
  expect(await taken).toMatchObject({ code: 'PACKAGES_FULL' });
  expect([isUsed, existsSync(path.join(folder, 'sets', second.key)), existsSync(noteOf(second))]).toEqual([
    true,
    true,
    true,
  ]);
  expect(existsSync(path.join(folder, 'sets', first.key))).toBe(false);
});

it('a server begins while another one installs packages: what is old is removed by a later one', async () => {
  const folder = path.join(tempFolder(), 'packages');
  const store = storeIn(folder);
  await store.open();
  const installing = await tryLock(path.join(folder, 'lock'));
  expect(installing.taken).toBe(true);

  await store.open();

  expect(await store.list()).toEqual([]);
});

import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../test/support/fake-engine.ts';
import type { ContainerSpec } from '../engines/index.ts';
import { removeTree } from '../lib/index.ts';
import { sessionCaches } from './session-caches.ts';
import { createUsers } from './users.ts';

const DAY_MS = 24 * 60 * 60_000;
const labels = { home: '/home/anna', machine: 'here' };

describe('caches of projects', () => {
  let folder: string;
  beforeEach(() => {
    folder = path.join(mkdtempSync(path.join(tmpdir(), 'mahabharatha-caches-')), 'caches');
  });
  afterEach(async () => {
    vi.useRealTimers();
    await removeTree(path.dirname(folder));
  });

  const world = () => {
    let filled = 0;
    const machine = createFakeEngineMachine(
      ({ exit }) => {
        filled += 1;
        exit(0);
      },
      ['image'],
    );
    const engine = createFakeEngine(machine);
    const caches = sessionCaches({ engine, folder, labels, image: 'image', users: createUsers({ mapsUsers: false }) });
    const take = (project: string, user = 'anna', runtime = 'node') => caches.take({ user, project, runtime });
    return { machine, engine, caches, take, fillings: () => filled, names: () => [...machine.volumes.keys()] };
  };
  const age = (id: string, days: number): void => {
    const at = new Date(Date.now() - days * DAY_MS);
    utimesSync(path.join(folder, `${id}.used`), at, at);
  };

  it('those that were not used for 30 days go, and never one that a session has', async () => {
    const { take, caches, names } = world();
    const [old, young, held] = [await take('old'), await take('young'), await take('held')];
    await old.release();
    await young.release();
    age(old.id, 31);
    age(young.id, 29);
    age(held.id, 31);
    expect(await caches.removeOld()).toEqual([`removed the cache ${old.id} of a project: it was not used for 30 days`]);
    const left = [...young.volumes, ...held.volumes].map(({ name }) => name);
    expect(names().toSorted()).toEqual(left.toSorted());
    await held.release();
    expect(readdirSync(folder).toSorted()).toEqual([`${young.id}.used`, `${held.id}.used`].toSorted());
  });

  it('where the time of the last use is not known, the age of the volumes counts', async () => {
    const { take, caches, names } = world();
    await (await take('lost')).release();
    await removeTree(folder);
    expect(await caches.removeOld()).toEqual([]);
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 31 * DAY_MS);
    expect(await caches.removeOld()).toHaveLength(1);
    expect(names()).toEqual([]);
  });

  it('volumes of others are left alone', async () => {
    const { engine, take, caches, names } = world();
    await (await take('own')).release();
    await engine.createVolume('theirs', { 'mahabharatha.role': 'session-cache', 'mahabharatha.session-cache': 'x' });
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 31 * DAY_MS);
    await caches.removeOld();
    expect(names()).toEqual(['theirs']);
  });

  it('no two projects, runtimes or users have the same one, and one session at a time has it', async () => {
    const { take } = world();
    const all = [await take('p'), await take('q'), await take('p', 'ben'), await take('p', 'anna', 'python')];
    expect(new Set(all.map(({ id }) => id)).size).toBe(4);
    await expect(take('p')).rejects.toMatchObject({ code: 'CACHE_BUSY' });
    await all[0]?.release();
    expect((await take('p')).id).toBe(all[0]?.id);
  });

  it('a user has 32 of them: with one more, the one goes that was used least lately and that no session has', async () => {
    const { take, names } = world();
    const held = await take('held');
    const others = [await take('old'), await take('p', 'ben')];
    for (const cache of others) await cache.release();
    for (const cache of [held, ...others]) age(cache.id, cache === held ? 20 : 10);
    for (let number = 2; number < 32; number += 1) await (await take(`p${number}`)).release();
    expect(names()).toHaveLength(2 * 33);
    await take('new');
    const left = new Set(names());
    const isThere = [held, ...others].map(({ volumes }) => volumes.every(({ name }) => left.has(name)));
    expect([left.size, isThere]).toEqual([2 * 33, [true, false, true]]);
  });

  it('another session can have it, also when the time of its last use cannot be written', async () => {
    const { take } = world();
    const cache = await take('p');
    const mark = path.join(folder, `${cache.id}.used`);
    rmSync(mark);
    mkdirSync(mark);
    await cache.release();
    rmdirSync(mark);
    expect((await take('p')).id).toBe(cache.id);
  });

  it('is of the same user each time, and one of an older version of the user that it had', async () => {
    const { machine, engine, take } = world();
    const [first, other] = [await take('p'), await take('q')];
    expect(first.uid).not.toBe(other.uid);
    await first.release();
    const again = await take('p');
    expect(again.uid).toBe(first.uid);
    await again.release();
    const before = [...machine.volumes];
    for (const [name, { labels: known }] of before) {
      const { 'mahabharatha.session-cache-user': _, 'mahabharatha.session-cache-of': __, ...former } = known;
      await engine.removeVolume(name);
      await engine.createVolume(name, former);
    }
    const taken = await take('p');
    await taken.release();
    await removeTree(path.join(folder, `${taken.id}.used`));
    expect([taken.uid, (await take('p')).uid]).toEqual([70_000, 70_000]);
  });

  it('is filled once, and again when a volume was removed or the filling did not end', async () => {
    const { engine, take, fillings } = world();
    const cache = await take('p');
    await cache.release();
    await (await take('p')).release();
    expect(fillings()).toBe(1);
    await engine.removeVolume(cache.volumes[0]?.name ?? '');
    await (await take('p')).release();
    expect(fillings()).toBe(2);
    await removeTree(path.join(folder, `${cache.id}.used`));
    await (await take('p')).release();
    expect(fillings()).toBe(3);
  });

  it('a container that a killed server has left with it is removed before it is given out', async () => {
    const { machine, engine, take } = world();
    const cache = await take('p');
    await cache.release();
    const spec = { name: 'left', image: 'image', labels: { 'mahabharatha.session-cache': cache.id }, mounts: [] };
    await engine.createContainer(spec as unknown as ContainerSpec);
    expect(machine.containers.size).toBe(1);
    await take('p');
    expect(machine.containers.size).toBe(0);
  });
});

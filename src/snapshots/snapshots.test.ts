import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { createSnapshots } from './snapshots.ts';
import type { SnapshotsOptions } from './snapshots.ts';
import { openSnapshotStore, partsOf } from './store.ts';

function openScene(changes: Partial<SnapshotsOptions> = {}, top = path.join(tempFolder(), 'snapshots')) {
  const store = openSnapshotStore(top);
  const made: string[] = [];
  const news: string[] = [];
  const options: SnapshotsOptions = {
    store,
    command: 'npm ci',
    limitBytes: 1e9,
    wanted: async () => ({ key: async () => 'k'.repeat(64), files: 1 }),
    bytesOf: async () => 1,
    changedBetween: async (from, to) => ({ files: Math.abs(Number(from) - Number(to)), changesKey: false }),
    inUse: async () => new Set(),
    tryOverlay: async () => ({ able: true }),
    make: async ({ commit, key, isShared }) => {
      made.push(commit);
      const draft = tempFolder();
      await mkdir(partsOf(draft).tree);
      await writeFile(partsOf(draft).index, 'index');
      return {
        id: await store.keep(draft, { key, repository: '/r', commit, isSetUp: true, isShared, bytes: 1 }),
        commit,
        isSetUp: true,
      };
    },
    ...changes,
  };
  const asking = {
    runId: 'r',
    stop: new AbortController().signal,
    news: ({ type }: { type: string }) => news.push(type),
  };
  const open = () => {
    const snapshots = createSnapshots(options);
    const ask = (commit: string, isPublished: boolean, parent?: string) =>
      snapshots.of(commit, { ...asking, isPublished, parent });
    return {
      snapshots,
      of: (commit: string) => ask(commit, true),
      /** For the work of an attempt. */
      ofWork: (commit: string, parent?: string) => ask(commit, false, parent),
    };
  };
  return { ...open(), again: open, make: options.make, store, top, made, news };
}

/** The commit 8 changes a lock file. */
const changesKeyAt8: SnapshotsOptions['changedBetween'] = async (from, to) => ({
  files: Math.abs(Number(from) - Number(to)),
  changesKey: to === '8',
});

describe('the snapshots of a run', () => {
  it('are made once for a commit, also when several workers ask at once, and serve near commits', async () => {
    const { of, made, news } = openScene();
    const all = await Promise.all(['1', '1', '501', '502'].map(of));
    expect(all.map((one) => one?.commit)).toEqual(['1', '1', '1', '502']);
    expect(made).toEqual(['1', '502']);
    expect(news).toEqual(['snapshot-begun', 'snapshot-made', 'snapshot-begun', 'snapshot-made']);
  });

  it('are made one after the other, also when a known one is asked for in between', async () => {
    const { of, made } = openScene();
    await of('1');
    const all = await Promise.all(['1000', '1', '1100'].map(of));
    expect(all.map((one) => one?.commit)).toEqual(['1000', '1', '1000']);
    expect(made).toEqual(['1', '1000']);
  });

  it('are found again by the next run, the nearest first; none of a commit that is gone', async () => {
    const scene = openScene({
      changedBetween: async (from, to) =>
        from === '2000' ? undefined : { files: Math.abs(+from - +to), changesKey: false },
    });
    for (const commit of ['1', '900', '2000']) await scene.of(commit);
    expect(await scene.again().of('1300')).toMatchObject({ commit: '900', isSetUp: true });
    expect(scene.made).toEqual(['1', '900', '2000']);
  });

  it('are other ones for other lock files, set-ups and images', async () => {
    const keys = ['a', 'b'];
    const { of, made } = openScene({
      wanted: async () => ({ key: async () => (keys.shift() ?? '').repeat(64), files: 1 }),
    });
    await of('1');
    await of('2');
    expect(made).toEqual(['1', '2']);
  });

  it('of an attempt serve no other commit, until that commit is published', async () => {
    const { of, ofWork, made } = openScene();
    await ofWork('5');
    expect((await ofWork('6'))?.commit).toBe('6');
    expect((await ofWork('5'))?.commit).toBe('5');
    expect((await of('7'))?.commit).toBe('7');
    expect(made).toEqual(['5', '6', '7']);
    expect((await of('900'))?.commit).toBe('900');
    await ofWork('1500');
    expect((await of('1500'))?.commit).toBe('1500');
    expect((await ofWork('1501'))?.commit).toBe('1500');
    expect(made).toEqual(['5', '6', '7', '900', '1500']);
  });

  it('of an attempt are those of the commit that it began with, without a further look, unless it changes the key or much', async () => {
    const looked: string[] = [];
    const wanted = async (commit: string) => {
      looked.push(commit);
      return { key: async () => (commit === '8' ? 'l' : 'k').repeat(64), files: 1 };
    };
    const { of, ofWork } = openScene({ wanted, changedBetween: changesKeyAt8 });
    await of('1');
    await of('401');
    expect((await ofWork('7', '1'))?.commit).toBe('1');
    expect((await ofWork('402', '401'))?.commit).toBe('1');
    expect(looked).toEqual(['1', '401']);
    // 200 files from a commit that is 400 files away from its snapshot; a lock file; a parent of which nothing is known.
    expect((await ofWork('601', '401'))?.commit).toBe('601');
    expect((await ofWork('8', '1'))?.commit).toBe('8');
    expect((await ofWork('9', '2'))?.commit).toBe('1');
    expect(looked).toEqual(['1', '401', '601', '8', '9']);
  });

  it('are made again when another run has removed them, or has been killed while it did', async () => {
    const { of, made, store, top } = openScene();
    const first = await of('1');
    const [kept] = await store.list();
    await store.remove(kept ?? { id: '', usedAt: 0 });
    expect((await of('1'))?.commit).toBe('1');
    await rm(path.join(top, first?.id ?? '', 'snapshot.json'));
    expect((await of('1'))?.commit).toBe('1');
    expect(made).toEqual(['1', '1', '1']);
    expect(await store.list()).toHaveLength(1);
  });

  it('are made again after a failure', async () => {
    let failures = 1;
    const scene = openScene();
    const make = async (request: Parameters<SnapshotsOptions['make']>[0]) => {
      if (failures-- > 0) throw new Error('no room');
      return scene.make(request);
    };
    const { of } = openScene({ make }, scene.top);
    await expect(of('1')).rejects.toThrow('no room');
    expect(await of('1')).toMatchObject({ commit: '1' });
    expect(scene.made).toEqual(['1']);
  });

  it('are not used where the engine takes no overlays, which is asked once, also where some are kept', async () => {
    const scene = openScene();
    await scene.of('1');
    let asked = 0;
    const tryOverlay = async () => {
      asked += 1;
      return { able: false, reason: 'invalid argument' } as const;
    };
    const { snapshots, of, news, made } = openScene({ tryOverlay }, scene.top);
    expect([await of('1'), await of('2')]).toEqual([null, null]);
    expect([asked, made, snapshots.replaceSetUp]).toEqual([1, [], false]);
    expect(news).toEqual(['warning']);
  });

  it('are asked for again after a trial of the engine that has failed for another reason', async () => {
    let failures = 1;
    const tryOverlay = async () => {
      if (failures-- > 0) throw new Error('no room on the disk of the engine');
      return { able: true } as const;
    };
    const { of } = openScene({ tryOverlay });
    await expect(of('1')).rejects.toThrow('no room');
    expect(await of('1')).toMatchObject({ commit: '1' });
  });

  it('are not made any more when the run ends: the one in the making is ended, and others are not begun', async () => {
    const begun: string[] = [];
    let isGone = false;
    const make: SnapshotsOptions['make'] = ({ commit, stop }) =>
      new Promise((_resolve, reject) => {
        begun.push(commit);
        stop.addEventListener('abort', () =>
          setTimeout(() => {
            isGone = true;
            reject(new Error('stopped'));
          }, 10),
        );
      });
    const { of, snapshots } = openScene({ make });
    const both = ['1', '1000'].map((commit) => of(commit).catch((error: Error) => error.message));
    await waitUntil('the first is begun', () => begun.length > 0);
    await snapshots.end();
    expect(isGone).toBe(true);
    expect(await Promise.all(both)).toEqual(['stopped', 'the run is over']);
    await expect(of('2000')).rejects.toThrow('the run is over');
    expect(begun).toEqual(['1']);
  });

  it('are not made of few files without a set-up', async () => {
    const { of, made } = openScene({ command: null });
    expect(await of('1')).toBeNull();
    const large = openScene({
      command: null,
      wanted: async () => ({ key: async () => 'k'.repeat(64), files: 20_000 }),
    });
    expect(await large.of('1')).not.toBeNull();
    const heavy = openScene({ command: null, bytesOf: async () => 1e9 });
    expect(await heavy.of('1')).not.toBeNull();
    expect([...made, ...large.made, ...heavy.made]).toEqual(['1', '1']);
  });

  it('are removed only when they were not used since they were listed, and a use waits for a removal', async () => {
    const { of, store, top } = openScene();
    const { id = '' } = (await of('1')) ?? {};
    const past = new Date(Date.now() - 9 * 24 * 3_600_000);
    await utimes(path.join(top, id, 'snapshot.json'), past, past);
    const [listed] = await store.list();
    if (listed === undefined) throw new Error('none is kept');
    await of('1');
    expect(await store.remove(listed)).toBe(false);
    expect((await store.list()).map((one) => one.id)).toEqual([id]);
    const [again] = await store.list();
    const [isRemoved, use] = await Promise.allSettled([store.remove(again ?? listed), store.use(listed)]);
    // Whichever comes first: a snapshot that is in use is there.
    expect(isRemoved).toMatchObject({ value: use.status === 'rejected' });
    expect(await store.list()).toHaveLength(use.status === 'rejected' ? 0 : 1);
  });

  it('that are old go also at the start of a run that needs none, and are private', async () => {
    const { of, snapshots, store, top } = openScene();
    const { id = '' } = (await of('1')) ?? {};
    expect([top, path.join(top, id)].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
    const past = new Date(Date.now() - 9 * 24 * 3_600_000);
    await utimes(path.join(top, id, 'snapshot.json'), past, past);
    await snapshots.makeRoom();
    expect(await store.list()).toEqual([]);
  });

  it('are not confused with what killed processes have left beside them, which goes', async () => {
    const { of, snapshots, store, top } = openScene();
    await of('1');
    for (const name of ['snapshot-0123456789abcdef', 'gone-0123456789abcdef']) await mkdir(path.join(top, name));
    const dead = { pid: 2 ** 22, started: '1', host: hostname(), since: '', token: 't' };
    await writeFile(path.join(top, '.lock.0123456789abcdef'), JSON.stringify(dead));
    await writeFile(path.join(top, '.lock'), JSON.stringify(dead));
    const draft = path.join(top, '..secret.0123456789abcdef.tmp');
    await writeFile(draft, 'half');
    await utimes(draft, new Date(0), new Date(0));
    await snapshots.makeRoom();
    expect((await store.list()).map(({ commit }) => commit)).toEqual(['1']);
    expect((await of('1'))?.commit).toBe('1');
    expect(readdirSync(top)).toHaveLength(1);
  });

  it('have a secret of their own, which only the user can read', async () => {
    const { store, top } = openScene();
    const [one, other] = await Promise.all([store.secret(), openSnapshotStore(top).secret()]);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(other).toBe(one);
    expect(statSync(path.join(top, '.secret')).mode & 0o777).toBe(0o600);
  });

  it('make room before a new one is made, and a folder without its facts is none', async () => {
    const { of, store, top } = openScene({ limitBytes: 0 });
    const old = (await of('1'))?.id ?? '';
    const before = new Date(Date.now() - 2 * 3_600_000);
    await utimes(path.join(top, old, 'snapshot.json'), before, before);
    await mkdir(path.join(top, 'half'));
    await of('1000');
    expect((await store.list()).map(({ commit }) => commit)).toEqual(['1000']);
    expect(readdirSync(top)).not.toContain(old);
  });
});

import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { openStore, projectPaths } from '../state/index.ts';
import type { RecordedEvent, StateStore } from '../state/index.ts';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { replay } from './reduce.ts';

interface Scene {
  readonly journal: Journal;
  readonly store: StateStore;
  readonly snapshots: () => number;
  readonly told: RecordedEvent[];
  wait(ms: number): void;
}

/** A journal over real files, that counts how often the snapshot is written. */
async function openScene(): Promise<Scene> {
  const store = openStore(
    projectPaths(tempFolder(), () => ({ top: '', folder: '', record: '' })),
    'f',
    replay,
  );
  await (
    await store.lock()
  )();
  let [now, snapshots] = [0, 0];
  const told: RecordedEvent[] = [];
  const clock = { now: () => now, monotonic: () => now };
  const counting: StateStore = {
    ...store,
    write: async (state) => {
      snapshots++;
      await store.write(state);
    },
  };
  const ports = { clock, store: counting, emit: (event: RecordedEvent) => void told.push(event) };
  const journal = openJournal(ports, createWorld([{ id: 'A' }]).state);
  return { journal, store, snapshots: () => snapshots, told, wait: (ms) => (now += ms) };
}

const warn = (journal: Journal, text: string): void => journal.record({ type: 'warning', text });

describe('what was saved', () => {
  it('can be read at once, from the snapshot or from the log', async () => {
    const { journal, store, wait } = await openScene();
    for (let step = 0; step < 20; step++) {
      warn(journal, `step ${step}`);
      await journal.save();
      expect(await store.read()).toEqual(journal.state);
      wait(120);
    }
  });

  it('is in the log once, and each event has the next number', async () => {
    const { journal, told } = await openScene();
    warn(journal, 'one');
    warn(journal, 'two');
    await journal.save();
    await journal.checkpoint();
    expect(told.map((event) => 'seq' in event && event.seq)).toEqual([1, 2]);
    expect(journal.state.events).toBe(2);
  });
});

describe('the snapshot', () => {
  it('has no event that the log does not have, also when more happens while the log is written', async () => {
    let journal: Journal | undefined;
    const logged: number[] = [];
    let inSnapshot = 0;
    const store = {
      restore: async () => [],
      append: async (events: readonly { seq: number }[]) => {
        // The answer to another question comes meanwhile.
        if (events.length > 0 && logged.length < 3) warn(journal as Journal, 'more');
        await Promise.resolve();
        logged.push(...events.map(({ seq }) => seq));
      },
      write: async (state: { events: number }) => {
        inSnapshot = state.events;
        expect(logged.at(-1)).toBe(state.events);
      },
    } as unknown as StateStore;
    const clock = { now: () => 0, monotonic: () => 0 };
    journal = openJournal({ clock, store, emit: () => undefined }, createWorld([{ id: 'A' }]).state);
    warn(journal, 'first');
    await journal.save();
    expect([inSnapshot, logged]).toEqual([4, [1, 2, 3, 4]]);
  });

  it('is written first: the state that a run begins with is in no event', async () => {
    const { journal, store } = await openScene();
    expect(journal.dueMs).toBe(0);
    await journal.save();
    expect(await store.read()).toEqual(journal.state);
  });

  it('is written now and then, however much happens: not once for each event', async () => {
    const { journal, snapshots, wait } = await openScene();
    for (let step = 0; step < 1000; step++) {
      warn(journal, `step ${step}`);
      await journal.save();
      wait(5);
    }
    expect(snapshots()).toBeLessThanOrEqual(12);
    expect(snapshots()).toBeGreaterThanOrEqual(5);
  });

  it('is due within a second after an event, and never without one', async () => {
    const { journal, store, wait } = await openScene();
    await journal.save();
    expect(journal.dueMs).toBeUndefined();
    warn(journal, 'news');
    await journal.save();
    expect(journal.dueMs).toBeLessThanOrEqual(1000);
    wait(journal.dueMs ?? 0);
    await journal.save();
    expect(journal.dueMs).toBeUndefined();
    expect((await store.read())?.warnings).toEqual(['news']);
  });

  it('is exact after a checkpoint', async () => {
    const { journal, snapshots } = await openScene();
    await journal.save();
    warn(journal, 'the end');
    await journal.checkpoint();
    await journal.checkpoint();
    expect([snapshots(), journal.dueMs]).toEqual([2, undefined]);
  });

  it('that could not be written is written next time, and no event is written twice', async () => {
    const { journal, store, wait } = await openScene();
    await journal.save();
    const broken = openJournal(
      { clock: { now: () => 0, monotonic: () => 0 }, emit: () => undefined, store: failingOnce(store) },
      journal.state,
    );
    warn(broken, 'one');
    await expect(broken.save()).rejects.toThrow('no space left');
    wait(1000);
    await broken.save();
    expect(await store.read()).toEqual(broken.state);
    expect((await store.read())?.warnings).toEqual(['one']);
  });
});

function failingOnce(store: StateStore): StateStore {
  let failed = false;
  return {
    ...store,
    write: async (state) => {
      if (failed) return store.write(state);
      failed = true;
      throw new Error('no space left');
    },
  };
}

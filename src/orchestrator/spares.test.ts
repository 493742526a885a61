import { expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { Spare } from '../launchers/index.ts';
import { NO_SNAPSHOTS } from '../snapshots/index.ts';
import type { Journal } from './journal.ts';
import type { RunContext } from './ports.ts';
import { createSpares } from './spares.ts';

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

interface Made {
  readonly removals: number;
  /** Ends it from outside. */
  die(): void;
}

/** A launcher whose spares are made when the test says so. */
function openScene() {
  const made: Made[] = [];
  const asked: { come(): void; fail(): void }[] = [];
  const newSpare = (): Spare => {
    let [removals, die] = [0, (): void => undefined];
    const gone = new Promise<void>((resolve) => (die = resolve));
    made.push({
      get removals() {
        return removals;
      },
      die,
    });
    const remove = async (): Promise<void> => {
      removals += 1;
      die();
    };
    return { gone, take: async () => undefined, remove };
  };
  const make = (): Promise<Spare> =>
    new Promise((resolve, reject) =>
      asked.push({ come: () => resolve(newSpare()), fail: () => reject(new Error('it cannot be made')) }),
    );
  const paths = { worker: () => ({}), spare: () => ({ overlayWork: '/nowhere/to/be/found' }), shared: '' };
  const context = {
    ports: {
      launcher: { spares: { make }, capabilities: { sharesObjects: false, singleUse: true } },
      snapshots: NO_SNAPSHOTS,
      repository: { objectFolders: async () => [], addPrivateCheckout: async () => undefined },
      spareMail: { open: async () => undefined, brief: async () => undefined },
      store: { paths },
      freeMemory: () => 8e9,
    },
    options: { stop: new AbortController().signal, graceMs: 0, setup: null, leaseMs: 0, env: {} },
    graph: { feature: 'f' },
  } as unknown as RunContext;
  const journal = { state: createWorld([{ id: 'A' }]).state } as Journal;
  const spares = createSpares({ context, journal, folders: { discardSpare: async () => undefined } }, () => undefined);
  const comes = async (worker: number, how: 'come' | 'fail' = 'come'): Promise<void> => {
    spares.make({ worker, base: 'c' });
    while (asked.length === 0) await turn();
    asked.shift()?.[how]();
    await turn();
  };
  return { spares, made, asked, comes, held: () => [...(spares.view()?.held ?? [])] };
}

it('spares are known from the moment at which they are begun, and can be taken once they are there', async () => {
  const { spares, asked, held } = openScene();
  spares.make({ worker: 1, base: 'c' });
  expect(held()).toEqual([[1, 'making']]);
  expect(spares.take(1)).toBeUndefined();
  while (asked.length === 0) await turn();
  asked[0]?.come();
  await turn();
  expect(held()).toEqual([[1, 'ready']]);
  expect(spares.take(1)?.session).toMatch(/^[0-9a-f]+$/);
  expect([held(), spares.take(1)]).toEqual([[], undefined]);
});

it('after three failures in a row no more are made; those that go together count once', async () => {
  const { spares, made, comes, held } = openScene();
  for (const worker of [0, 1, 2, 3]) await comes(worker);
  for (const { die } of made) die();
  await turn();
  expect(held()).toEqual([]);
  await comes(0, 'fail');
  expect(spares.view()).not.toBeNull();
  await comes(0, 'fail');
  expect(spares.view()).toBeNull();
});

it('one that is taken shows that they can be made', async () => {
  const { spares, comes } = openScene();
  for (const how of ['fail', 'fail', 'come'] as const) await comes(0, how);
  spares.take(0);
  for (const how of ['fail', 'fail'] as const) await comes(0, how);
  expect(spares.view()).not.toBeNull();
});

it('the end of a run removes those that wait, and those that are being made when they are there', async () => {
  const { spares, made, asked, comes } = openScene();
  await comes(0);
  spares.make({ worker: 1, base: 'c' });
  while (asked.length === 0) await turn();
  const closed = spares.close();
  await turn();
  expect(made.map(({ removals }) => removals)).toEqual([1]);
  asked[0]?.come();
  await closed;
  expect(made.map(({ removals }) => removals)).toEqual([1, 1]);
});

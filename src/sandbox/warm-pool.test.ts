import { expect, it } from 'vitest';
import { waitUntil } from '../../test/support/wait-until.ts';
import type { Sandbox } from './sandbox.ts';
import { createWarmPool } from './warm-pool.ts';

/** Sandboxes that are started, closed and killed by the test. */
function world(more: Partial<Parameters<typeof createWarmPool>[0]> = {}) {
  const open = new Set<string>();
  let [made, atATime, most] = [0, 0, 0];
  const start = async (name: string): Promise<Sandbox> => {
    most = Math.max(most, ++atATime);
    await new Promise((resolve) => setTimeout(resolve, 2));
    atATime -= 1;
    const id = `${name}-${++made}`;
    open.add(id);
    const close = async (): Promise<void> => void open.delete(id);
    return { containerId: id, isOver: () => !open.has(id), close } as unknown as Sandbox;
  };
  const pool = createWarmPool({ names: ['a', 'b'], size: 2, start, hasRoom: () => true, ...more });
  return { pool, open, most: () => most };
}

it('makes spares one at a time, gives each out once, and makes others in their place', async () => {
  const { pool, open, most } = world();
  pool.refill();
  await waitUntil('spares', () => open.size === 4);
  expect(most()).toBe(1);
  const taken = [pool.take('a'), pool.take('a'), pool.take('a'), pool.take('none')].map((each) => each?.containerId);
  expect(taken).toEqual([expect.any(String), expect.any(String), undefined, undefined]);
  expect(new Set(taken).size).toBe(3);
  pool.refill();
  await waitUntil('others', () => pool.counts()['a'] === 2);
  expect(pool.counts()).toEqual({ a: 2, b: 2 });
});

it('gives out none that has ended, and closes all at the end, also those that are being made', async () => {
  const { pool, open } = world();
  pool.refill();
  await waitUntil('spares', () => open.size === 4);
  open.clear();
  expect([pool.take('a'), pool.counts()]).toEqual([undefined, { a: 0, b: 0 }]);
  pool.refill();
  await pool.close();
  expect(open.size).toBe(0);
});

it('makes none without memory for it, and goes on with others when one cannot be made', async () => {
  const full = world({ hasRoom: () => false });
  full.pool.refill();
  await full.pool.close();
  expect(full.open.size).toBe(0);
  let tries = 0;
  const half = world();
  const pool = createWarmPool({
    names: ['broken', 'a'],
    size: 1,
    hasRoom: () => true,
    start: async (name) => {
      if (name === 'broken') throw new Error(`no image ${++tries}`);
      return half.pool.take('a') ?? Promise.reject(new Error('none'));
    },
  });
  half.pool.refill();
  await waitUntil('a spare', () => half.pool.counts()['a'] === 2);
  pool.refill();
  await waitUntil('a spare', () => pool.counts()['a'] === 1);
  expect([pool.counts(), tries]).toEqual([{ broken: 0, a: 1 }, 1]);
});

import { expect, it } from 'vitest';
import { sandboxErrors } from './errors.ts';
import { keepSandbox } from './kept-sandbox.ts';
import type { Sandbox } from './sandbox.ts';

/** Sandboxes that are started when the test says so. */
function starting() {
  const starts: ((hasFailed?: boolean) => void)[] = [];
  const open = new Set<number>();
  const kept = keepSandbox(
    () =>
      new Promise((resolve, reject) => {
        const id = starts.length;
        const close = async (): Promise<void> => void open.delete(id);
        starts.push((hasFailed = false) => {
          if (hasFailed) return reject(new Error('no room'));
          open.add(id);
          resolve({ isOver: () => !open.has(id), close } as Sandbox);
        });
      }),
  );
  return { starts, open, kept };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const GONE = sandboxErrors.SANDBOX_GONE({ reason: 'it was closed' }).message;

it('starts nothing after its close, also for those that waited for a start that has failed', async () => {
  const { starts, open, kept } = starting();
  const first = kept.get();
  await soon();
  const second = kept.get();
  const closed = kept.close();
  starts[0]?.(true);
  const ends = await Promise.allSettled([first, second, closed]);
  expect(ends.map((end) => (end.status === 'rejected' ? (end.reason as Error).message : ''))).toEqual([
    'no room',
    GONE,
    '',
  ]);
  await expect(kept.get()).rejects.toThrow(GONE);
  expect([starts.length, open.size]).toEqual([1, 0]);
});

it('closes what is being started, and gives it to no one who comes later', async () => {
  const { starts, open, kept } = starting();
  const first = kept.get().catch(() => undefined);
  await soon();
  const closed = kept.close();
  starts[0]?.();
  await Promise.all([first, closed]);
  await expect(kept.get()).rejects.toThrow(GONE);
  expect(open.size).toBe(0);
});

it('starts a new one after an end, which does not forget a later start', async () => {
  const { starts, open, kept } = starting();
  const first = kept.get();
  await soon();
  starts[0]?.();
  await first;
  await kept.end();
  const again = kept.get();
  await soon();
  starts[1]?.();
  expect((await again).isNew).toBe(true);
  expect([...open]).toEqual([1]);
  await kept.close();
  expect(open.size).toBe(0);
});

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { readUntrusted } from '../lib/index.ts';
import { watchLease } from './watch-lease.ts';

vi.mock(import('../lib/atomic-file.ts'), { spy: true });

let now: number;
let file: string;
let lost: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  [now, file, lost] = [0, path.join(tempFolder(), 'lease.json'), []];
});
afterEach(() => {
  vi.useRealTimers();
});

const renew = (owner: string, beat: number): void => writeFileSync(file, JSON.stringify({ version: 1, owner, beat }));

function watch(lateMs = 0): ReturnType<typeof watchLease> {
  const clock = { now: () => now, monotonic: () => now };
  return watchLease({ file, leaseMs: 60_000, clock, lateMs, lost: (cause) => lost.push(cause) });
}

/** The file is really read: waits until each look has ended, however long that takes. */
async function pass(seconds: number, each: (second: number) => void = () => undefined): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    each(second);
    now += 1000;
    vi.advanceTimersByTime(1000);
    await looks();
  }
}

async function looks(): Promise<void> {
  await Promise.allSettled(vi.mocked(readUntrusted).mock.results.map(({ value }) => value));
  await new Promise((resolve) => setImmediate(resolve));
}

describe('after the orchestrator has hung up', () => {
  it.each(['there', 'missing'])(
    'a worker that had not looked at the lease ends after a short grace: %s',
    async (is) => {
      if (is === 'there') renew('dead', 7);
      const lease = watch();
      lease.hangUp();
      await pass(8);
      lease.close();
      expect(lost).toEqual([expect.stringContaining('limit 5 s')]);
    },
  );

  it('a worker goes on with an orchestrator that takes it over', async () => {
    renew('dead', 7);
    const lease = watch();
    await pass(2);
    lease.hangUp();
    await pass(3);
    await pass(10, (second) => renew('new', second));
    lease.close();
    expect(lost).toEqual([]);
  });

  it('a worker goes on with one that took it over before its first look at the lease', async () => {
    renew('new', 1);
    const lease = watch();
    lease.hangUp();
    await pass(10, (second) => renew('new', 2 + second));
    lease.close();
    expect(lost).toEqual([]);
  });

  it('a worker ends when the last renewal was just before that', async () => {
    renew('dead', 7);
    const lease = watch();
    await pass(2);
    renew('dead', 8);
    lease.hangUp();
    await pass(8);
    lease.close();
    expect(lost).toEqual([expect.stringContaining('limit 5 s')]);
  });

  it('the loss is reported once, although several looks are under way, and not after the watch is closed', async () => {
    const [lease, closed] = [watch(), watch()];
    for (const each of [lease, closed]) each.hangUp();
    for (let second = 0; second < 9; second += 1) {
      now += 1000;
      vi.advanceTimersByTime(1000);
    }
    closed.close();
    await looks();
    lease.close();
    expect(lost).toEqual([expect.stringContaining('limit 5 s')]);
  });

  it('a process that workers need ends later than they do', async () => {
    renew('dead', 7);
    const lease = watch(3000);
    await pass(2);
    lease.hangUp();
    await pass(8);
    expect(lost).toEqual([]);
    await pass(3);
    lease.close();
    expect(lost).toEqual([expect.stringContaining('limit 8 s')]);
  });

  it('a worker goes on with the same one when only the connection has broken', async () => {
    renew('here', 7);
    const lease = watch();
    await pass(2);
    lease.hangUp();
    await pass(10, (second) => renew('here', 8 + second));
    lease.close();
    expect(lost).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { whichAreFree, whichToRemove } from './prune.ts';

const HOUR_MS = 3_600_000;
const NOW = 1000 * HOUR_MS;

/** Snapshots by name, each with its bytes and the hours since its last use. */
const kept = (all: Readonly<Record<string, readonly [bytes: number, hours: number]>>) =>
  Object.entries(all).map(([id, [bytes, hours]]) => ({
    id,
    bytes,
    usedAt: NOW - hours * HOUR_MS,
    key: 'k',
    repository: '/r',
    commit: 'c',
    isSetUp: true,
    isShared: true,
  }));

const removed = (all: Parameters<typeof kept>[0], bytes = 1000, inUse: readonly string[] = []): string[] =>
  whichToRemove(kept(all), { now: NOW, bytes, inUse: new Set(inUse) }).map(({ id }) => id);

it('snapshots that were not used for a week go', () => {
  expect(removed({ old: [1, 169], new: [1, 167] })).toEqual(['old']);
});

it('over the limit the longest unused ones go, and no more than needed', () => {
  expect(removed({ a: [400, 3], b: [400, 9], c: [400, 5] }, 1000)).toEqual(['b']);
  expect(removed({ a: [400, 3], b: [400, 9], c: [400, 5] }, 100)).toEqual(['b', 'c', 'a']);
  expect(removed({ a: [400, 3], b: [400, 9], c: [400, 5] }, 1200)).toEqual([]);
});

it('one that a container uses, or that was used within the hour, stays', () => {
  expect(removed({ used: [400, 999], young: [400, 0.9], free: [400, 1.1] }, 100, ['used'])).toEqual(['free']);
});

it('without a live run those are free that no container uses, also when they were used a moment ago', () => {
  const all = kept({ used: [1, 9], young: [1, 0], old: [1, 9] });
  const free = (isLive: boolean): string[] =>
    whichAreFree(all, { now: NOW, inUse: new Set(['used']), isLive }).map(({ id }) => id);
  expect([free(false), free(true)]).toEqual([['young', 'old'], ['old']]);
});

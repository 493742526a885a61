import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { createFreeSpace, likeliest } from './free-space.ts';
import type { DiskMeter } from './free-space.ts';

const GIB = 1024 ** 3;

/** A container whose folders are on a disk of this machine. The test says how much it keeps there. */
function openContainer(): DiskMeter & { keeps: number } {
  const top = tempFolder();
  const folders: [string, string] = [path.join(top, 'a'), path.join(top, 'b')];
  for (const folder of folders) mkdirSync(folder);
  const container = { folders, keeps: 0, measure: async () => ({ bytes: container.keeps }), last: () => 0 };
  return container;
}

it('the container that grew most is killed when the disk is nearly full, and the others go on', async () => {
  let free = 10 * GIB;
  let looks = 0;
  const freeSpace = createFreeSpace(async () => {
    looks += 1;
    return free;
  });
  const over = new AbortController();
  const [innocent, hostile] = [openContainer(), openContainer()];
  const others = freeSpace.watch(innocent, over.signal);
  const ended = freeSpace.watch(hostile, over.signal);
  await waitUntil('it was seen how much room there is', () => looks > 0);
  innocent.keeps = GIB / 2;
  hostile.keeps = 9.2 * GIB;
  free = 0.3 * GIB;
  expect(await ended).toBe(
    'killed: 307.2 MiB were left on the disk of its folders, and it had grown most, by 9.2 GiB since it was measured last',
  );
  // The disk is still full until its files are gone: what was blamed on one is blamed on no other.
  const now = looks;
  await waitUntil('it was looked at again', () => looks > now + 2);
  over.abort();
  expect(await others).toBeUndefined();
});

it('no container ends for a disk that other programs have filled, or that had little room from the start', async () => {
  expect(likeliest([{ bytes: GIB / 32 }, { bytes: -GIB }], GIB)).toBeUndefined();
  expect(likeliest([], GIB)).toBeUndefined();
  expect(likeliest([{ bytes: GIB / 16 }, { bytes: GIB / 8 }], GIB)).toEqual({ bytes: GIB / 8 });
  const over = new AbortController();
  const worker = { ...openContainer(), keeps: GIB };
  let looks = 0;
  const freeSpace = createFreeSpace(async () => {
    looks += 1;
    if (looks === 3) over.abort();
    return GIB / 2;
  });
  expect(await freeSpace.watch(worker, over.signal)).toBeUndefined();
});

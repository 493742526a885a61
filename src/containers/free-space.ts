import { stat } from 'node:fs/promises';
import { freeBytesIn, inBytes, sleep } from '../lib/index.ts';
import type { DiskLimit } from './container-wish.ts';

/** Short, because a program that reserves room fills a disk at once. A look is one system call per disk. */
const LOOK_MS = 250;
/** Below it a disk is nearly full. Of a disk that has little room at the start, half of that room. */
const FLOOR_BYTES = 1024 ** 3;
/** A container that grew by less than this part of the floor has not filled the disk. */
const LEAST_GROWTH = 1 / 16;

/** Measures what a container keeps on the disk. */
export interface DiskMeter {
  readonly folders: DiskLimit['folders'];
  /** Its folders, and the deleted files that it has open. */
  measure(signal?: AbortSignal): Promise<{ readonly bytes: number }>;
  /** The last measurement. */
  last(): number;
}

/** Watches the free space on the disks of all containers. */
export interface FreeSpace {
  /** Resolves with the reason when this container is to be killed: the disk is nearly full, and it grew most. */
  watch(meter: DiskMeter, signal: AbortSignal): Promise<string | undefined>;
}

interface Watched {
  readonly meter: DiskMeter;
  /** What it kept when there was still room, by the last measurement. */
  before: number;
  readonly end: (reason: string) => void;
}

export function createFreeSpace(freeBytes: typeof freeBytesOf = freeBytesOf): FreeSpace {
  const watched = new Set<Watched>();
  const floors = new Map<number, number>();
  let looking = false;
  const lookOn = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      for (; watched.size > 0; await sleep(LOOK_MS)) await look(watched, floors, freeBytes);
    } finally {
      looking = false;
    }
  };
  return {
    watch: (meter, signal) =>
      new Promise((resolve) => {
        const finish = (reason: string | undefined): void => {
          watched.delete(own);
          resolve(reason);
        };
        const own: Watched = { meter, before: meter.last(), end: finish };
        if (signal.aborted) return finish(undefined);
        signal.addEventListener('abort', () => finish(undefined), { once: true });
        watched.add(own);
        void lookOn();
      }),
  };
}

/** `floors`: below so many free bytes a disk is nearly full. */
async function look(
  watched: ReadonlySet<Watched>,
  floors: Map<number, number>,
  freeBytes: typeof freeBytesOf,
): Promise<void> {
  for (const [disk, { folder, containers }] of await byDisk(watched)) {
    const free = await freeBytes(folder);
    const floor = floors.get(disk) ?? Math.min(FLOOR_BYTES, free / 2);
    floors.set(disk, floor);
    if (free >= floor) {
      for (const one of containers) one.before = one.meter.last();
      continue;
    }
    const grown = await Promise.all(containers.map(async (one) => ({ one, bytes: await growthOf(one) })));
    const culprit = likeliest(grown, floor);
    culprit?.one.end(reasonFor(free, culprit.bytes));
  }
}

/** Pure: the one that may have filled the disk; undefined when none of them has. */
export function likeliest<Grown extends { readonly bytes: number }>(
  grown: readonly Grown[],
  floorBytes: number,
): Grown | undefined {
  const [most] = grown.toSorted((one, other) => other.bytes - one.bytes);
  return most !== undefined && most.bytes >= floorBytes * LEAST_GROWTH ? most : undefined;
}

function reasonFor(free: number, growth: number): string {
  return (
    `killed: ${inBytes(free)} were left on the disk of its folders, and it had grown most, by ${inBytes(growth)} ` +
    'since it was measured last'
  );
}

/** Notes the new size: no second container is killed for the same growth. */
async function growthOf(one: Watched): Promise<number> {
  const { bytes } = await one.meter.measure();
  const growth = bytes - one.before;
  one.before = bytes;
  return growth;
}

/** A folder that is gone is on no disk. */
async function byDisk(
  watched: ReadonlySet<Watched>,
): Promise<ReadonlyMap<number, { readonly folder: string; readonly containers: Watched[] }>> {
  const disks = new Map<number, { readonly folder: string; readonly containers: Watched[] }>();
  for (const one of watched) {
    for (const folder of one.meter.folders) {
      const disk = (await stat(folder).catch(() => undefined))?.dev;
      if (disk === undefined) continue;
      const containers = disks.get(disk)?.containers ?? [];
      if (!containers.includes(one)) containers.push(one);
      disks.set(disk, { folder, containers });
    }
  }
  return disks;
}

function freeBytesOf(folder: string): Promise<number> {
  return freeBytesIn(folder).catch(() => Infinity);
}

import { chmodSync, lstatSync, opendirSync, renameSync, rmdirSync, statfsSync, unlinkSync } from 'node:fs';
import type { Dir, Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { randomId } from '../lib/index.ts';
import { asUser } from './as-user.ts';

/** How long the output of other programs waits at a time. */
const SLICE_MS = 5;
const MOST_MS = 20_000;
/** What is less than that is gone in a moment. It is a long one when the processor is needed elsewhere. */
const MOMENT_MS = 1000;
const FEW_NAMES = 256;
const FEW_BYTES = 4 * 1024 ** 2;
/** What other users move meanwhile may be overlooked. */
const ROUNDS = 3;
const ROOT = 0;

interface Found {
  readonly file: Buffer;
  readonly uid: number;
  readonly isFolder: boolean;
}

/** Says whose rights the next step needs; in the end, whether nothing is left. */
type Walk = Generator<number, boolean>;

interface Shared {
  readonly folder: string;
  /** Whether all programs of this user have ended. */
  readonly isOver: (uid: number) => boolean;
}

interface Clearing {
  /** It is done without a pause in which something else could happen. */
  readonly isShort: boolean;
  /** False when something is left. */
  clear(): Promise<boolean>;
}

/** Removes what users whose programs have ended own in folders that all users share. */
export function clearingOf(folders: readonly string[], isOver: Shared['isOver']): Clearing {
  const isShort = folders.every(hasFewFiles);
  return { isShort, clear: () => clearFolders(folders, isOver, isShort ? MOMENT_MS : SLICE_MS) };
}

function hasFewFiles(folder: string): boolean {
  const { files, ffree, blocks, bfree, bsize } = statfsSync(folder);
  return files > 0 && files - ffree <= FEW_NAMES && (blocks - bfree) * bsize <= FEW_BYTES;
}

async function clearFolders(folders: readonly string[], isOver: Shared['isOver'], sliceMs: number): Promise<boolean> {
  const until = performance.now() + MOST_MS;
  let isClear = true;
  for (const folder of folders) {
    let isDone = false;
    for (let round = 0; round < ROUNDS && !isDone; round += 1)
      isDone = await inSlices(clearing({ folder, isOver }), until, sliceMs);
    isClear &&= isDone;
  }
  return isClear;
}

async function inSlices(walk: Walk, until: number, sliceMs: number): Promise<boolean> {
  let pause = performance.now() + sliceMs;
  let step = walk.next();
  const goOn = (uid: number): void => {
    do step = walk.next();
    while (step.done !== true && step.value === uid && performance.now() < pause);
  };
  while (step.done !== true) {
    const { value: uid } = step;
    asUser(uid, () => goOn(uid));
    if (performance.now() < pause) continue;
    if (pause > until) return false;
    await nextTurn();
    pause = performance.now() + sliceMs;
  }
  return step.value;
}

function* clearing(shared: Shared): Walk {
  const found: Found[] = [];
  let isClear = true;
  for (const file of filesIn(Buffer.from(shared.folder))) {
    yield ROOT;
    const stat = statOf(file);
    if (stat !== undefined && shared.isOver(stat.uid)) found.push(foundAs(file, stat));
  }
  for (let each = found.pop(); each !== undefined; each = found.pop()) {
    yield each.uid;
    try {
      yield* removing(each, shared, found);
    } catch {
      isClear = false;
    }
  }
  return isClear;
}

/** The folders in a folder are moved up before they are emptied: so the depth of a tree is of no consequence. */
function* removing({ file, uid, isFolder }: Found, shared: Shared, found: Found[]): Generator<number, void> {
  if (!isFolder) return unlinkSync(file);
  // Its user may have closed it to itself.
  chmodSync(file, 0o700);
  for (const inner of filesIn(file)) {
    yield uid;
    const stat = statOf(inner);
    if (stat === undefined) continue;
    if (!stat.isDirectory()) {
      unlinkSync(inner);
      continue;
    }
    const up = Buffer.from(`${shared.folder}/.left-${randomId()}`);
    if (stat.uid !== uid) {
      // Only its owner can move it.
      chmodSync(file, 0o777);
      yield stat.uid;
    }
    chmodSync(inner, 0o700);
    renameSync(inner, up);
    if (shared.isOver(stat.uid)) found.push(foundAs(up, stat));
    yield uid;
    if (stat.uid !== uid) chmodSync(file, 0o700);
  }
  rmdirSync(file);
}

/** Names are bytes, and need not be text. */
function* filesIn(folder: Buffer): Generator<Buffer> {
  let dir: Dir | undefined;
  try {
    dir = opendirSync(folder, { encoding: 'buffer' as BufferEncoding });
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync())
      yield Buffer.concat([folder, Buffer.from('/'), Buffer.from(entry.name)]);
  } finally {
    dir?.closeSync();
  }
}

const statOf = (file: Buffer): Stats | undefined => lstatSync(file, { throwIfNoEntry: false });

const foundAs = (file: Buffer, stat: Stats): Found => ({ file, uid: stat.uid, isFolder: stat.isDirectory() });

import { mkdirSync, openSync, renameSync, rmSync, statfsSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SANDBOX } from '../protocol/index.ts';
import type { FileCall } from '../protocol/index.ts';
import { withGroup } from './as-user.ts';

/** As many as executions may be under way. */
const SLOTS = 32;
/** With less room than that in the folder of all, a program does not get its files there. */
const ROOM_BYTES = 1024 ** 2;
const ROOM_NAMES = 256;
/** For the user that has the group to read, and for no one to write. */
const FOLDER = 0o750;
const FILE = 0o640;

interface Slot {
  /** What is its own. */
  readonly folder: string;
  /** A link to its home, and one to its program: made before, since a full folder has no room for them. */
  readonly links: { readonly home: string; readonly program: string };
  /** Where the links are now. */
  readonly taken: { home?: string; program?: string };
}

type WriteCall = FileCall & { readonly op: 'write' };

export type Reserve = ReturnType<typeof createReserve>;

/**
 * Room for programs while their neighbours have filled the folder of all. It is in memory of its own to which the agent alone
 * writes: a program can read its files there, and finds no room for more than the folder of all has. `folder` is in the folder
 * of all, and the agent's own.
 */
export function createReserve(folder: string) {
  const links = path.posix.join(folder, 'reserve');
  mkdirSync(links, { mode: 0o700 });
  const free = Array.from({ length: SLOTS }, (_, at) => newSlot(links, String(at)));
  const users = new Map<number, Slot>();
  return {
    /** The home of this user; false when the folder of all has room for it. */
    takeHome: (uid: number, home: string): boolean => {
      const slot = hasRoom() ? undefined : free.pop();
      if (slot === undefined) return false;
      users.set(uid, slot);
      withGroup(uid, () => makeHome(slot, home));
      return true;
    },
    /** The same file where its user has room; undefined when that is its own place. */
    placed: (call: WriteCall): WriteCall | undefined => {
      const slot = users.get(call.uid);
      return slot && placeFile(slot, call);
    },
    /** Input for this user, open for reading; undefined when its home has room for it. */
    openInput: (uid: number, content: Buffer): number | undefined => {
      const slot = users.get(uid);
      return slot && withGroup(uid, () => openInput(slot, content));
    },
    /** No process of this user is left. */
    giveBack: (uid: number): void => {
      const slot = users.get(uid);
      if (slot === undefined) return;
      users.delete(uid);
      empty(slot);
      free.push(slot);
    },
  };
}

function makeHome(slot: Slot, home: string): void {
  for (const folder of [slot.folder, path.posix.join(slot.folder, 'home')]) mkdirSync(folder, FOLDER);
  takeLink(slot, 'home', home);
}

function placeFile(slot: Slot, call: WriteCall): WriteCall {
  const file = path.posix.relative(call.root, call.path);
  const [top = ''] = file.split('/');
  if (slot.taken.program === undefined) {
    // Interpreters look at the name of the real file.
    symlinkSync(top, path.posix.join(slot.folder, 'program'));
    takeLink(slot, 'program', path.posix.join(call.root, top));
  }
  return { ...call, root: slot.folder, path: path.posix.join(slot.folder, file), mode: FILE, folderMode: FOLDER };
}

function openInput({ folder }: Slot, content: Buffer): number {
  const file = path.posix.join(folder, 'input');
  writeFileSync(file, content, { mode: FILE, flag: 'wx' });
  const input = openSync(file, 'r');
  unlinkSync(file);
  return input;
}

function empty({ folder, links, taken }: Slot): void {
  for (const what of ['home', 'program'] as const) {
    const file = taken[what];
    if (file !== undefined) renameSync(file, links[what]);
    delete taken[what];
  }
  rmSync(folder, { recursive: true, force: true });
}

function newSlot(links: string, name: string): Slot {
  const folder = path.posix.join(SANDBOX.reserve, name);
  const linkTo = (what: string): string => {
    const link = path.posix.join(links, `${name}-${what}`);
    symlinkSync(path.posix.join(folder, what), link);
    return link;
  };
  return { folder, links: { home: linkTo('home'), program: linkTo('program') }, taken: {} };
}

function takeLink({ links, taken }: Slot, what: 'home' | 'program', file: string): void {
  renameSync(links[what], file);
  taken[what] = file;
}

function hasRoom(): boolean {
  const { bavail, bsize, ffree } = statfsSync(SANDBOX.tmp);
  return bavail * bsize >= ROOM_BYTES && ffree >= ROOM_NAMES;
}

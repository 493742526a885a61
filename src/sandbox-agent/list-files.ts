import { closeSync, constants, fstatSync, lstatSync, openSync, opendirSync } from 'node:fs';
import type { Dir, Stats } from 'node:fs';
import { systemCode } from '../lib/index.ts';
import type { FileAnswer, FileCall, FileEntry } from '../protocol/index.ts';
import { hashFile, HASHED_BYTES } from './hash-file.ts';
import { failure, openPlace, READING } from './open-path.ts';

/** Of one answer: the agent does other work between two. */
const PAGE = { chars: 128 * 1024, bytes: 4 * 1024 ** 2 };
const MOST_ENTRIES = 20_000;
const DEEPEST = 64;
/** Of all files of one listing. */
const MOST_HASHED_BYTES = 512 * 1024 ** 2;
/** Listings whose host has not asked for the rest: the oldest ends. */
const MOST_WALKS = 4;

type Walk = Generator<FileEntry, void>;

interface Budget {
  entries: number;
  hashed: number;
}

/** Lists what is in a folder and below, a page for each call. Links are named and not followed. */
export function createListing(): (call: FileCall & { op: 'list' }) => FileAnswer {
  const walks = new Map<number, { readonly walk: Walk; readonly budget: Budget }>();
  let last = 0;
  const begin = (call: FileCall & { op: 'list' }): number => {
    const budget = { entries: 0, hashed: 0 };
    walks.set(++last, { walk: entriesIn(openPlace(call), '', 1, budget), budget });
    const [oldest = 0] = walks.keys();
    if (walks.size > MOST_WALKS) end(oldest);
    return last;
  };
  const end = (id: number): void => {
    walks.get(id)?.walk.return();
    walks.delete(id);
  };
  return (call) => {
    const id = call.walk ?? begin(call);
    const { walk, budget } = walks.get(id) ?? {};
    if (walk === undefined || budget === undefined) throw failure('ESTALE', 'too many listings are under way');
    const page: FileEntry[] = [];
    const until = budget.hashed + PAGE.bytes;
    let chars = 0;
    try {
      while (chars < PAGE.chars && budget.hashed < until) {
        const { done, value } = walk.next();
        if (done === true) {
          walks.delete(id);
          return { entries: page, walk: null };
        }
        page.push(value);
        chars += JSON.stringify(value).length;
      }
      return { entries: page, walk: id };
    } catch (error) {
      end(id);
      throw error;
    }
  };
}

/** Closes the folder. */
function* entriesIn(folder: number, prefix: string, depth: number, budget: Budget): Walk {
  let dir: Dir | undefined;
  try {
    // Names are bytes: what is no text is named as well as it can be.
    dir = opendirSync(`/proc/self/fd/${folder}`, { encoding: 'buffer' as BufferEncoding });
    for (let found = dir.readSync(); found !== null; found = dir.readSync()) {
      if (++budget.entries > MOST_ENTRIES) throw failure('E2BIG', `it has more than ${MOST_ENTRIES} entries`);
      const name = Buffer.from(found.name);
      const file = Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), name]);
      const stat = lstatSync(file, { throwIfNoEntry: false });
      if (stat !== undefined) yield* entry(file, stat, { path: `${prefix}${name.toString('utf8')}`, depth, budget });
    }
  } finally {
    dir?.closeSync();
    closeSync(folder);
  }
}

interface At {
  readonly path: string;
  readonly depth: number;
  readonly budget: Budget;
}

function* entry(file: Buffer, stat: Stats, { path, depth, budget }: At): Walk {
  const known = { path, size: stat.isFile() ? stat.size : 0, mode: stat.mode & 0o7777, sha256: null };
  if (!isText(file)) return yield { ...known, kind: kindOf(stat), problem: 'its name is no text' };
  if (stat.isFile()) return yield { ...known, kind: 'file', ...hashed(file, budget) };
  if (!stat.isDirectory()) return yield { ...known, kind: kindOf(stat), problem: null };
  if (depth >= DEEPEST) return yield { ...known, kind: 'folder', problem: `more than ${DEEPEST} folders deep` };
  let folder: number;
  try {
    folder = openSync(file, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    return yield { ...known, kind: 'folder', problem: `it cannot be read (${systemCode(error) ?? 'EIO'})` };
  }
  let isOpen = true;
  try {
    yield { ...known, kind: 'folder', problem: null };
    isOpen = false;
    yield* entriesIn(folder, `${path}/`, depth + 1, budget);
  } finally {
    if (isOpen) closeSync(folder);
  }
}

const not = (problem: string): Pick<FileEntry, 'sha256' | 'problem'> => ({ sha256: null, problem });

function hashed(file: Buffer, budget: Budget): Pick<FileEntry, 'sha256' | 'problem'> {
  if (budget.hashed >= MOST_HASHED_BYTES) return not(`${MOST_HASHED_BYTES} bytes of other files were hashed before it`);
  try {
    const fd = openSync(file, READING);
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) return not('it was replaced meanwhile');
      const sha256 = hashFile(fd);
      budget.hashed += sha256 === null ? 0 : stat.size;
      return sha256 === null ? not(`not hashed: larger than ${HASHED_BYTES} bytes`) : { sha256, problem: null };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return not(`it cannot be read (${systemCode(error) ?? 'EIO'})`);
  }
}

function kindOf(stat: Stats): FileEntry['kind'] {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'folder';
  return stat.isSymbolicLink() ? 'link' : 'other';
}

const isText = (name: Buffer): boolean => Buffer.from(name.toString('utf8')).equals(name);

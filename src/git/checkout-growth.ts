import type { GitCommand } from './git-command.ts';
import { GITLINK, RAW_CHANGES, rawChanges } from './raw-changes.ts';
import type { RawChange, Side } from './raw-changes.ts';

/** What a file or a folder takes on a disk at least, also when it is empty. */
const BLOCK_BYTES = 4096;
const HEAVIEST = 3;

/** How much more the checkout of one commit takes on a disk than that of another. */
export interface Growth {
  readonly bytes: number;
  /** The paths that add most. */
  readonly heaviest: readonly { readonly path: string; readonly bytes: number }[];
}

/** Remembers what it has measured or was given: commits do not change. */
export function checkoutGrowth(git: GitCommand) {
  const known = new Map<string, Promise<Growth>>();
  return {
    /** Null means from nothing: the size of the whole checkout. */
    between: (from: string | null, to: string): Promise<Growth> => {
      const key = `${from} ${to}`;
      const growth = known.get(key) ?? measure(git, from, to);
      known.set(key, growth);
      growth.catch(() => known.delete(key));
      return growth;
    },
    /** Gives a growth that is known already. */
    know: (from: string, to: string, growth: Growth) => void known.set(`${from} ${to}`, Promise.resolve(growth)),
  };
}

async function measure(git: GitCommand, from: string | null, to: string): Promise<Growth> {
  if (from === to) return { bytes: 0, heaviest: [] };
  const text = await git.text(['diff-tree', ...RAW_CHANGES, from ?? (await emptyTree(git)), to]);
  return growthOf(git, rawChanges(text.split('\0')));
}

async function emptyTree(git: GitCommand): Promise<string> {
  return (await git.text(['hash-object', '-t', 'tree', '--stdin'], { input: '' })).trim();
}

/** Sizes are summed by path: one blob under many names is small in a bundle and large in a checkout. */
export async function growthOf(git: GitCommand, changes: readonly RawChange[]): Promise<Growth> {
  const sizes = await sizesOf(git, [...changes.map(({ after }) => after), ...changes.map(({ before }) => before)]);
  const sizeOf = (side: Side | null): number =>
    side === null ? 0 : Math.max(1, Math.ceil((sizes.get(side.id) ?? 0) / BLOCK_BYTES)) * BLOCK_BYTES;
  const files = changes.map(({ path, before, after }) => ({ path, bytes: sizeOf(after) - sizeOf(before) }));
  const folders =
    countFolders(changes.filter(({ after }) => after !== null)) -
    countFolders(changes.filter(({ before }) => before !== null));
  return {
    bytes: files.reduce((sum, { bytes }) => sum + bytes, folders * BLOCK_BYTES),
    heaviest: files.toSorted((one, other) => other.bytes - one.bytes).slice(0, HEAVIEST),
  };
}

/**
 * Missing objects have no size: files of a partial clone, which a worker cannot check out either. Git ends at the first
 * of them, because it may not fetch it; so the caller names the new files first.
 */
export async function sizesOf(git: GitCommand, sides: readonly (Side | null)[]): Promise<ReadonlyMap<string, number>> {
  const ids = new Set(sides.flatMap((side) => (side === null || side.mode === GITLINK ? [] : [side.id])));
  if (ids.size === 0) return new Map();
  const args = ['-c', 'protocol.allow=never', 'cat-file', '--buffer', '--batch-check=%(objectname) %(objectsize)'];
  const options = { input: `${[...ids].join('\n')}\n`, env: { GIT_NO_LAZY_FETCH: '1' }, answers: [0, 128] };
  const { stdout } = await git.result(args, options);
  const lines = stdout.split('\n').map((line) => line.split(' '));
  return new Map(lines.map(([id = '', size]) => [id, Number(size) || 0]));
}

/** Changes are ordered by path, so a folder is a new one when the path before was not in it. */
function countFolders(changes: readonly RawChange[]): number {
  let count = 0;
  let last: readonly string[] = [];
  for (const { path } of changes) {
    const own = path.split('/').slice(0, -1);
    const shared = own.findIndex((name, depth) => name !== last[depth]);
    if (shared !== -1) count += own.length - shared;
    last = own;
  }
  return count;
}

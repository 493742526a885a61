import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { hasCode, libErrors, randomId, syncFolder } from '../lib/index.ts';
import { readBundleHeader } from './bundle-header.ts';
import { gitErrors } from './errors.ts';
import { entriesOf, gitIn, withGitSettings } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { quarantinePrefix } from './quarantine.ts';
import { changeRefs, checkedOutIn } from './refs.ts';
import { needRoom, needWritable } from './room.ts';

export interface Bundle {
  /** A copy of ours, which no worker can change meanwhile. */
  readonly file: string;
  /** The branch in it, and here. */
  readonly branch: string;
}

/** A few bytes may unpack to very much, and few objects may stand for very many paths: what that may cost ends here. */
const LIMITS = {
  /** Larger files are streamed; a tree, a commit or a delta that needs more at once is no task's work. */
  unpackBytes: 512 * 1024 ** 2,
  /** Git keeps a list of all paths: this is where the list gets too long for it, at more than a million. */
  listBytes: 16 * 1024 ** 2,
  /** For any bundle, and for each of its megabytes: a small one that takes longer is made for that. */
  unpackMs: 60_000,
  unpackMsPerMegabyte: 200,
  walkMs: 60_000,
  /** As long as the path of a file may be. */
  pathBytes: 4096,
} as const;

/** A pack, its index, which is larger for very small objects, and what a thin pack is completed with. */
const ROOM_PER_BYTE = 3;

/** No object is unpacked into memory as a whole when it can be avoided. */
const FRUGAL = [
  ['core.bigFileThreshold', '16m'],
  ['core.deltaBaseCacheLimit', '16m'],
  ['pack.threads', '1'],
] as const;

/**
 * Takes a branch out of a bundle and tells its commit; whatever else is in the bundle stays there. Throws BUNDLE_REFUSED
 * or FILE_UNREADABLE for a bad one, and FILE_UNWRITABLE when it cannot be unpacked here; then nothing of it is in the
 * repository.
 *
 * Not `git fetch`: that takes a file that names another repository for that repository, and checks the objects of a
 * bundle only since 2.46. As with a push, they come into a folder of their own, and join the others when they
 * are found good.
 */
export async function bringHome(git: GitCommand, commonDir: string, { file, branch }: Bundle): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const objects = path.join(commonDir, 'objects');
  const quarantine = path.join(objects, `${quarantinePrefix(path.posix.dirname(branch))}${randomId()}`);
  const bundle = await open(file, 'r');
  try {
    const tip = await standBeforePack(bundle, file, ref);
    const { size } = await bundle.stat();
    await needRoom(objects, size * ROOM_PER_BYTE, 'unpacking a bundle');
    await mkdir(path.join(quarantine, 'pack'), { recursive: true });
    await mkdir(path.join(quarantine, 'info'));
    await writeFile(path.join(quarantine, 'info', 'alternates'), '..\n');
    const inside = gitInQuarantine(git, quarantine);
    await asRefusal(quarantine, size, async () => {
      await unpack(inside, bundle.fd, size);
      await checkWhole(inside, tip);
    });
    await release(path.join(quarantine, 'pack'), path.join(objects, 'pack'));
    // A working tree that has the branch checked out would not fit it any more.
    if ((await checkedOutIn(git, ref)) === undefined) await changeRefs(git, [{ ref, to: tip }]);
    return tip;
  } finally {
    await bundle.close();
    await rm(quarantine, { recursive: true, force: true });
  }
}

/** Reads the list of names; what is read next is the pack. Returns the commit that the branch has in the bundle. */
async function standBeforePack(bundle: FileHandle, file: string, ref: string): Promise<string> {
  const { refs, length } = await readBundleHeader(bundle, file);
  const tip = refs.get(ref);
  if (tip === undefined) throw libErrors.FILE_UNREADABLE({ file, reason: `there is no ${ref} in this bundle` });
  // The descriptor is given to git, which goes on where it stands.
  await bundle.read(Buffer.alloc(length), 0, length, null);
  return tip;
}

/**
 * Git finds a bundle bad, or cannot do its work here: the one is its maker's fault, the other ours. What git prints does
 * not tell: the task has chosen names that stand in it, "No space left on device" among them. So it is tried.
 */
async function asRefusal(quarantine: string, size: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, gitErrors.GIT_FAILED)) throw error;
    await needWritable(quarantine);
    // What was unpacked until now lies there still: room for the rest must be left.
    await needRoom(quarantine, size, 'unpacking a bundle');
    throw gitErrors.BUNDLE_REFUSED({ reason: error.message }, { cause: error });
  }
}

/** What is missing is missing: nothing is fetched from a partial clone's origin because a worker's bundle names it. */
function gitInQuarantine({ cwd, env }: GitCommand, quarantine: string): GitCommand {
  const own = { GIT_OBJECT_DIRECTORY: quarantine, ...allocating(LIMITS.unpackBytes), GIT_NO_LAZY_FETCH: '1' };
  return gitIn(cwd, withGitSettings(env, FRUGAL), own);
}

const allocating = (bytes: number): { GIT_ALLOC_LIMIT: string } => ({ GIT_ALLOC_LIMIT: String(bytes) });

async function unpack(git: GitCommand, bundle: number, size: number): Promise<void> {
  const timeoutMs = LIMITS.unpackMs + Math.round(size / 1e6) * LIMITS.unpackMsPerMegabyte;
  await git.text(['index-pack', '--stdin', '--fix-thin', '--strict'], { input: bundle, timeoutMs });
}

/** It is a commit; everything that it stands for is there, and can be listed and written to a disk. */
async function checkWhole(git: GitCommand, tip: string): Promise<void> {
  const limit = { timeoutMs: LIMITS.walkMs };
  // A tag would pass all that follows, and no branch may point to one.
  const type = (await git.text(['cat-file', '-t', tip], limit)).trim();
  if (type !== 'commit') throw gitErrors.BUNDLE_REFUSED({ reason: `${tip} is a ${type}, not a commit` });
  await git.text(['rev-list', '--objects', '--quiet', tip, '--not', '--all'], limit);
  const list = ['diff-tree', '-r', '-z', '--root', '--no-renames', '--name-only', '--no-commit-id', tip];
  const names = entriesOf(await git.text(list, { ...limit, env: allocating(LIMITS.listBytes) }));
  const tooLong = names.find((name) => Buffer.byteLength(name) > LIMITS.pathBytes);
  if (tooLong === undefined) return;
  const reason = `a path in ${tip} is longer than ${LIMITS.pathBytes} bytes: ${tooLong.slice(0, 100)}…`;
  throw gitErrors.BUNDLE_REFUSED({ reason });
}

/** A pack counts as there when its index is, so that comes last. */
async function release(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const [names, there] = await Promise.all([readdir(from), readdir(to).then((found) => new Set(found))]);
  const inOrder = names.toSorted((one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx')));
  for (const name of inOrder) if (!there.has(name)) await rename(path.join(from, name), path.join(to, name));
  await syncFolder(to);
}

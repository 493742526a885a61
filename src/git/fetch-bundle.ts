import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { clip, hasCode, inBytes, libErrors, makeFolder, randomId, syncFolder } from '../lib/index.ts';
import { readBundleHeader } from './bundle-header.ts';
import { gitErrors } from './errors.ts';
import { commitChangesCommand, readCommitChanges } from './commit-facts.ts';
import type { CommitChanges } from './commit-facts.ts';
import { gitIn, saidTooMuch, withGitSettings } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { quarantinePrefix } from './quarantine.ts';
import { needRoom, needWritable } from './room.ts';

export interface Bundle {
  /** A copy of ours, which no worker can change meanwhile. */
  readonly file: string;
  /** The branch in it. */
  readonly branch: string;
}

/** A few bytes may unpack to very much, and few objects may stand for very many paths: so the cost of all that is limited. */
const LIMITS = {
  /** Larger files are streamed; no task's work needs more at once for a tree, a commit or a delta. */
  unpackBytes: 512 * 1024 ** 2,
  /** Git keeps eight bytes for each path of the list: enough for two million of them, which says nothing of how long they are. */
  listBytes: 16 * 1024 ** 2,
  /** What git prints, above all that list: enough for half a million paths. */
  output: 64 * 1024 ** 2,
  /** For any bundle, and for each of its megabytes: a small one that takes longer was made in order to take long. */
  unpackMs: 60_000,
  unpackMsPerMegabyte: 200,
  walkMs: 60_000,
  /** The longest path that a system accepts. */
  pathBytes: 4096,
  /** Of what git says of a bad bundle. */
  reason: 2000,
} as const;

/** For a pack, its index, which is larger for very small objects, and the objects that complete a thin pack. */
const ROOM_PER_BYTE = 3;

/** No object is unpacked into memory as a whole when it can be avoided. */
const LITTLE_MEMORY = [
  ['core.bigFileThreshold', '16m'],
  ['core.deltaBaseCacheLimit', '16m'],
  ['pack.threads', '1'],
] as const;

/**
 * Takes the commit of one branch out of a bundle, nothing else, and returns it. No ref names it yet. Throws BUNDLE_REFUSED or
 * FILE_UNREADABLE for a bad bundle, and FILE_UNWRITABLE when it cannot be unpacked here; then nothing of it is in the
 * repository.
 *
 * Not with `git fetch`: where the file names another repository, it would fetch from there, and it checks the objects of
 * a bundle only since 2.46. As with a push, objects are unpacked in a folder of their own, and moved when they are good.
 */
export async function fetchBundle(
  git: GitCommand,
  commonDir: string,
  { file, branch }: Bundle,
): Promise<CommitChanges> {
  const objects = path.join(commonDir, 'objects');
  const quarantine = path.join(objects, `${quarantinePrefix(path.posix.dirname(branch))}${randomId()}`);
  const bundle = await open(file, 'r');
  try {
    const tip = await readTip(bundle, file, `refs/heads/${branch}`);
    const { size } = await bundle.stat();
    await needRoom(objects, size * ROOM_PER_BYTE, 'unpacking a bundle');
    await makeFolder(path.join(quarantine, 'pack'));
    await mkdir(path.join(quarantine, 'info'));
    await writeFile(path.join(quarantine, 'info', 'alternates'), '..\n');
    const inside = gitInQuarantine(git, quarantine);
    const changes = await asRefusal(quarantine, size, async () => {
      await unpack(inside, bundle.fd, size);
      return checkWhole(inside, tip);
    });
    await movePack(path.join(quarantine, 'pack'), path.join(objects, 'pack'));
    return changes;
  } finally {
    await bundle.close();
    await rm(quarantine, { recursive: true, force: true });
  }
}

/** Returns the commit of the branch in the bundle, and leaves the position of the file at the pack. */
async function readTip(bundle: FileHandle, file: string, ref: string): Promise<string> {
  const { refs, length } = await readBundleHeader(bundle, file);
  const tip = refs.get(ref);
  if (tip === undefined) throw libErrors.FILE_UNREADABLE({ file, reason: `there is no ${ref} in this bundle` });
  // Git is given the descriptor, and reads from its position on.
  await bundle.read(Buffer.alloc(length), 0, length, null);
  return tip;
}

/**
 * A failure of git is the worker's fault, unless nothing can be written here. That is tried, because it cannot be read
 * from git's message: the task has chosen names in it, possibly "No space left on device".
 */
async function asRefusal<Value>(quarantine: string, size: number, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, gitErrors.GIT_FAILED)) throw error;
    await needWritable(quarantine);
    // What was unpacked until now takes its room already: this is for the rest.
    await needRoom(quarantine, size, 'unpacking a bundle');
    throw gitErrors.BUNDLE_REFUSED({ reason: clip(error.message, LIMITS.reason) }, { cause: error });
  }
}

/** In a partial clone git must not fetch an object from the origin because a worker's bundle names it. */
function gitInQuarantine({ cwd, env }: GitCommand, quarantine: string): GitCommand {
  const own = { GIT_OBJECT_DIRECTORY: quarantine, ...allocating(LIMITS.unpackBytes), GIT_NO_LAZY_FETCH: '1' };
  return gitIn(cwd, withGitSettings(env, LITTLE_MEMORY), own);
}

const allocating = (bytes: number): { GIT_ALLOC_LIMIT: string } => ({ GIT_ALLOC_LIMIT: String(bytes) });

async function unpack(git: GitCommand, bundle: number, size: number): Promise<void> {
  const timeoutMs = LIMITS.unpackMs + Math.round(size / 1e6) * LIMITS.unpackMsPerMegabyte;
  await git.text(['index-pack', '--stdin', '--fix-thin', '--strict'], {
    input: bundle,
    timeoutMs,
    mostOutput: LIMITS.output,
  });
}

/** Checks that it is a commit with all its objects, and that its files can be listed and checked out. */
async function checkWhole(git: GitCommand, tip: string): Promise<CommitChanges> {
  const limit = { timeoutMs: LIMITS.walkMs };
  await git.text(['rev-list', '--objects', '--quiet', tip, '--not', '--all'], limit);
  const commit = readCommitChanges(await listChanges(git, tip));
  // Git reads the commit that a tag leads to; no branch may point to a tag.
  if (commit.commit !== tip) throw gitErrors.BUNDLE_REFUSED({ reason: `${tip} is not a commit` });
  const tooLong = commit.changes.find(({ path: name }) => Buffer.byteLength(name) > LIMITS.pathBytes);
  if (tooLong === undefined) return commit;
  const reason = `a path in ${tip} is longer than ${LIMITS.pathBytes} bytes: ${tooLong.path.slice(0, 100)}…`;
  throw gitErrors.BUNDLE_REFUSED({ reason });
}

async function listChanges(git: GitCommand, tip: string): Promise<string> {
  const limits = { timeoutMs: LIMITS.walkMs, mostOutput: LIMITS.output, env: allocating(LIMITS.listBytes) };
  try {
    return await git.text(commitChangesCommand(tip), limits);
  } catch (error) {
    if (!saidTooMuch(error) && !isOverAllocation(error)) throw error;
    const most = inBytes(LIMITS.output);
    const reason = `${tip} changes too many paths, or too long ones: the list of them has more than ${most}`;
    throw gitErrors.BUNDLE_REFUSED({ reason }, { cause: error });
  }
}

/** No path of the task's is in the line that says so. */
const isOverAllocation = (error: unknown): boolean =>
  hasCode(error, gitErrors.GIT_FAILED) &&
  /^fatal: attempting to allocate \d+ over limit \d+$/m.test(error.facts.stderr);

/** For git a pack is there once its index is, so the index comes last. */
async function movePack(from: string, to: string): Promise<void> {
  await makeFolder(to);
  const [names, there] = await Promise.all([readdir(from), readdir(to).then((found) => new Set(found))]);
  const inOrder = names.toSorted((one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx')));
  for (const name of inOrder) if (!there.has(name)) await rename(path.join(from, name), path.join(to, name));
  await syncFolder(to);
}

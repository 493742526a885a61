import { hasCode, isPassing, systemCode } from '../lib/index.ts';
import { gitErrors } from './errors.ts';

/** Commands that can be repeated: they only read, write objects, or bring a worktree to a named state. */
const HARMLESS = new Set([
  'add',
  'cat-file',
  'clean',
  'commit-tree',
  'diff',
  'diff-tree',
  'for-each-ref',
  'hash-object',
  'log',
  'ls-files',
  'ls-tree',
  'merge-base',
  'merge-tree',
  'mktree',
  'read-tree',
  'reset',
  'rev-list',
  'rev-parse',
  'status',
  'symbolic-ref',
  'version',
  'write-tree',
]);

/**
 * What git says when a `git gc` or another git beside it has just removed a folder or a pack, or holds a lock, and when the
 * machine has run out of something for a moment.
 */
const PASSING = [
  /unable to create temporary file/i,
  /unable to (find|open|map|access|write) .*(object|pack|\.idx)/i,
  /unable to write .*objects?\//i,
  /packfile .* (cannot be accessed|cannot be mapped|is far too short)/i,
  /Unable to create '[^']*\.lock': File exists/,
  /Too many open files/,
  /Cannot allocate memory|out of memory/i,
  /Resource temporarily unavailable/,
];

/** The disk cannot be written: no room on it, no more for this user, or it fails. Git says it in the words of the system and in its own. */
const DISK_TROUBLE =
  /No space left on device|Out of diskspace|Disk quota exceeded|Input\/output error|Read-only file system|couldn't (write|set) '|unable to write new.index file/;

/** What a `git prune` beside us says of what was added and is in no commit yet. */
const VANISHED =
  /invalid object|nonexistent object|not a valid (object|tree)|not a tree object|unable to read (tree|sha1 file|[0-9a-f]{40})|bad object|nothing to merge/i;

export function isHarmless(args: readonly string[]): boolean {
  const verb = args.findIndex((arg, index) => arg !== '-c' && args[index - 1] !== '-c');
  return HARMLESS.has(args[verb] ?? '');
}

/** Neither the work nor its settings are at fault: the disk cannot be written, or the process or machine has run out of something. */
export function isMachineTrouble(error: unknown): boolean {
  return isDiskTrouble(error) || isPassingFailure(error);
}

function isDiskTrouble(error: unknown): boolean {
  if (hasCode(error, gitErrors.GIT_FAILED)) return DISK_TROUBLE.test(error.facts.stderr);
  return ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'].includes(systemCode(error) ?? '');
}

/** An object that was just written is gone: all of the work has to be added again. */
export function isVanished(error: unknown): boolean {
  return hasCode(error, gitErrors.GIT_FAILED) && VANISHED.test(error.facts.stderr);
}

export function saysPassing(stderr: string): boolean {
  return PASSING.some((trouble) => trouble.test(stderr));
}

/**
 * Did git fail, or not even start, because of something that passes? Ctrl-C at the terminal is for us alone, but reaches a
 * git that has just been started and has not left our process group yet.
 */
export function isPassingFailure(error: unknown): boolean {
  if (!hasCode(error, gitErrors.GIT_FAILED)) return isPassing(error);
  return error.facts.exit === 'signal SIGINT' || saysPassing(error.facts.stderr);
}

import type { GitCommand } from './git-command.ts';

export interface Bundle {
  /** A copy of ours: nobody changes it under our hands. */
  readonly file: string;
  /** The branch in it, and here. */
  readonly branch: string;
}

/** Objects of a stranger: each is checked, stays in its pack, and none is unpacked into memory as a whole. */
const CAUTIOUS = [
  'fetch.fsckObjects=true',
  'transfer.fsckObjects=true',
  'fetch.unpackLimit=1',
  'core.bigFileThreshold=16m',
  'pack.deltaCacheSize=16m',
  'protocol.file.allow=always',
].flatMap((setting) => ['-c', setting]);

/** Takes a branch out of a bundle; whatever else is in the bundle stays there. Throws GIT_FAILED for a bad one. */
export async function bringHome(git: GitCommand, { file, branch }: Bundle): Promise<void> {
  const quiet = ['--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head', '--no-auto-maintenance'];
  const ref = `refs/heads/${branch}`;
  await git.text([...CAUTIOUS, 'fetch', ...quiet, '--recurse-submodules=no', '--', file, `+${ref}:${ref}`]);
}

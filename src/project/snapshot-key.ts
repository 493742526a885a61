import { keyedDigest } from '../lib/index.ts';
import type { SnapshotBase } from './run-workers.ts';

/** Changes when snapshots are made in another way. */
const FORMAT = 2;

/** All that a snapshot depends on beside its commit, as far as it is known. */
export interface SnapshotFacts {
  readonly repository: string;
  readonly setup: string | undefined;
  readonly lockFiles: readonly string[];
  /** The user's git settings that change what is checked out. */
  readonly settings: readonly string[];
  /** Of the copied files. */
  readonly copies: readonly unknown[];
  /** What the set-up gets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly base: Pick<SnapshotBase, 'info' | 'imageId' | 'users'>;
}

/** With a secret, because it stands in files and labels, and the environment has values that can be guessed. */
export function snapshotKey(secret: string, facts: SnapshotFacts): string {
  const { repository, setup, lockFiles, settings, copies, env, base } = facts;
  const { info, imageId, users } = base;
  // A rebuilt image has the same name, and another engine may have another image of that name.
  const parts = [info.id, info.endpoint, imageId, users.uid, users.gid];
  return keyedDigest(secret, JSON.stringify([FORMAT, repository, setup, lockFiles, settings, copies, env, parts]));
}

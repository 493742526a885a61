import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { TestProject } from './project.ts';
import { fingerprint } from './temp-repository.ts';

/** What a run may make: its own folders, its own refs, new objects, the records of its worktrees. */
const OURS = [
  /(^|\/)\.mahabharatha\/(state|logs)(\/|$)/,
  /(^|\/)\.git\/(objects|refs\/mahabharatha|refs\/heads\/mahabharatha|logs\/refs\/heads\/mahabharatha)(\/|$)/,
  /(^|\/)\.git\/worktrees(\/mahabharatha-worker-\d+.*)?$/,
  /^outside(\/|$)/,
  /^home\/\.local(\/state(\/mahabharatha(\/runs)?)?)?$/,
];

/**
 * Everything of the user's that a run must leave alone, byte for byte: the home folder, the files, and of git's own folder the
 * index, HEAD, branches, reflogs, configuration and hooks.
 */
export function checkoutOf({ folder, outside, env }: TestProject): Record<string, string> {
  const files = fingerprint(path.dirname(outside), (file) => OURS.some((pattern) => pattern.test(file)));
  const status = execFileSync('git', ['-c', 'core.fsmonitor=false', 'status', '--porcelain=v2', '--branch', '-z'], {
    cwd: folder,
    env: { ...env, GIT_OPTIONAL_LOCKS: '0' },
    encoding: 'utf8',
  });
  return { ...files, 'git status': status };
}
